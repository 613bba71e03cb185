fuzz_test(cpu_list rb_common)
fuzz_test(run_spec rb_common)
