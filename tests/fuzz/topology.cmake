fuzz_test(topology rb_analysis)
