# SPDX-License-Identifier: Apache-2.0
fuzz_test(cpu_list rb_common)
fuzz_test(run_spec rb_common)
