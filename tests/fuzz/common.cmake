fuzz_test(run_spec rb_common)
