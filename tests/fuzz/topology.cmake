# SPDX-License-Identifier: Apache-2.0
fuzz_test(topology rb_analysis)
