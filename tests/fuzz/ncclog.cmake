# SPDX-License-Identifier: Apache-2.0
fuzz_test(ncclog rb_common)
