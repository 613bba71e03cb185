fuzz_test(program rb_agent)
