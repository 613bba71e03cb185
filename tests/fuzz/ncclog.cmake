fuzz_test(ncclog rb_common)
fuzz_test(ras rb_agent)
if(TARGET rb_worker_nccl)
endif()
