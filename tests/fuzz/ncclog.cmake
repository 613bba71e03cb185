fuzz_test(ncclog rb_common)
