# SPDX-License-Identifier: Apache-2.0
fuzz_test(program rb_agent)
