fuzz_test(ncclog rb_agent)
