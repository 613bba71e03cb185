unit_test(split rb_common)
unit_test(traffic rb_common)
unit_test(ncclog rb_common)
target_compile_definitions(test_ncclog PRIVATE DATA_DIR="${CMAKE_CURRENT_LIST_DIR}/../data")
if(NOT TARGET rb_worker_fixture)
    add_library(rb_worker_fixture STATIC
        ${CMAKE_CURRENT_LIST_DIR}/../bench/rendezvous_stub.c
        ${CMAKE_CURRENT_LIST_DIR}/../bench/worker_group.c)
endif()
unit_test(build_id rb_worker rb_worker_fixture)
if(TARGET rb_worker_nccl)
    unit_test(nccl_interface rb_worker_nccl)
endif()
unit_test(sim_exchange rb_worker_sim)
