if(NOT TARGET rb_worker_fixture)
    add_library(rb_worker_fixture STATIC
        ${CMAKE_CURRENT_LIST_DIR}/../bench/rendezvous_stub.c
        ${CMAKE_CURRENT_LIST_DIR}/../bench/worker_group.c)
endif()

unit_test(numeric rb_worker)
unit_test(pattern rb_worker_host)
unit_test(affinity rb_worker)
unit_test(caches rb_worker)
unit_test(ports rb_worker)
unit_test(crossing rb_worker)
unit_test(case_file rb_worker)
unit_test(arrival rb_worker)
unit_test(bench_state rb_worker)
unit_test(stopping rb_worker)
unit_test(stacks rb_worker)
unit_test(rendezvous_client rb_worker rb_worker_fixture)
unit_test(reduce rb_worker_host)
unit_test(host_memory rb_worker_host)
unit_test(ucx_lanes rb_worker_host)
# Real processes, more of them than there are cores.
unit_test(sockets rb_worker_host rb_worker_fixture)
unit_test(host_collectives rb_worker_host rb_worker_fixture)
target_link_options(test_host_collectives PRIVATE
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup)
unit_test(worker_process rb_worker_fixture rb_common)
target_compile_definitions(test_worker_process
    PRIVATE WORKER_HOST="$<TARGET_FILE:ringbench-worker-host>")
add_dependencies(test_worker_process ringbench-worker-host)
set_tests_properties(unit_host_collectives unit_worker_process PROPERTIES TIMEOUT 900)
