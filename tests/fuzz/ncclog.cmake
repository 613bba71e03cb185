fuzz_test(ncclog rb_agent)
fuzz_test(ras rb_agent)
