
foreach(noun params noise noise_parts topology model)
    unit_test(sim_${noun} rb_worker_sim)
endforeach()
unit_test(sim_hub rb_worker_sim rb_worker_fixture)
# Real worker processes.
unit_test(sim_worker rb_worker_fixture rb_common)
target_compile_definitions(test_sim_worker
    PRIVATE WORKER_SIM="$<TARGET_FILE:ringbench-worker-sim>")
add_dependencies(test_sim_worker ringbench-worker-sim)
unit_test(door rb_worker_sim rb_worker_fixture)
unit_test(join rb_worker rb_worker_fixture)
target_compile_definitions(test_door PRIVATE
    WORKER_HOST="$<TARGET_FILE:ringbench-worker-host>" WORKER_SIM="$<TARGET_FILE:ringbench-worker-sim>")
add_dependencies(test_door ringbench-worker-host ringbench-worker-sim)
