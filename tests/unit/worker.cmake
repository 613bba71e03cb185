# SPDX-License-Identifier: Apache-2.0
unit_tests(worker LIBS rb_worker_host rb_worker rb_worker_fixture rb_common TESTS
    affinity arrival bench_state build_id case_file choice host_memory
    nccl_pattern numeric pattern reduce rendezvous_client shm_group sockets stacks stopping timed tree
    ucx_lanes worker_process)
target_link_options(units_worker PRIVATE
    -Wl,--wrap=getaddrinfo,--wrap=tree_allgather,--wrap=tree_barrier)
unit_define(worker_process WORKER_HOST="$<TARGET_FILE:ringbench-worker-host>")
add_dependencies(units_worker ringbench-worker-host)

# Real processes, more of them than there are cores.
unit_test(host_collectives rb_worker_host rb_worker_fixture)
target_link_options(units_host_collectives PRIVATE
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=clock_monotonic_ns)
set_tests_properties(unit_host_collectives unit_worker_process PROPERTIES TIMEOUT 1800)

unit_tests(sim LIBS rb_worker_sim rb_worker_fixture rb_common TESTS
    greeting sim_model sim_noise sim_params sim_worker)
foreach(noun greeting sim_worker)
    unit_define(${noun} WORKER_HOST="$<TARGET_FILE:ringbench-worker-host>"
        WORKER_SIM="$<TARGET_FILE:ringbench-worker-sim>")
endforeach()
add_dependencies(units_sim ringbench-worker-host ringbench-worker-sim)
unit_threads(greeting sim_worker sockets stacks tree worker_process)
