unit_test(run_spec_nccl rb_common)
if(TARGET rb_worker_nccl)
    unit_test(nccl_identity rb_worker_nccl)
    unit_test(nccl_pattern rb_worker)
    unit_test(shared_object rb_worker_nccl)

    # Worker processes over the emulated libraries.
    unit_test(nccl_worker rb_worker_fixture rb_common)
    target_compile_definitions(test_nccl_worker PRIVATE
        WORKER_NCCL="$<TARGET_FILE:ringbench-worker-nccl>"
        EMULATED_CUDART="$<TARGET_FILE:emulated_cudart>"
        EMULATED_NCCL="$<TARGET_FILE:emulated_nccl>"
        EMULATED_NCCL_OLD="$<TARGET_FILE:emulated_nccl_old>")
    add_dependencies(test_nccl_worker ringbench-worker-nccl emulated_cudart emulated_nccl
        emulated_nccl_old)
    set_tests_properties(unit_nccl_worker PROPERTIES TIMEOUT 300)

    # What the worker declares of CUDA and NCCL, against their headers where they are.
    find_path(RINGBENCH_CUDA_INCLUDE cuda_runtime_api.h HINTS ENV CUDA_HOME
        PATHS /usr/local/cuda PATH_SUFFIXES include)
    find_path(RINGBENCH_NCCL_INCLUDE nccl.h HINTS ENV NCCL_HOME ENV CUDA_HOME
        PATHS /usr/local/cuda PATH_SUFFIXES include)
    if(RINGBENCH_CUDA_INCLUDE AND RINGBENCH_NCCL_INCLUDE)
        unit_test(nccl_abi rb_common)
        target_include_directories(test_nccl_abi SYSTEM PRIVATE
            ${RINGBENCH_CUDA_INCLUDE} ${RINGBENCH_NCCL_INCLUDE})
    else()
        message(STATUS "Tests: no headers of CUDA and NCCL, nccl_abi is left out")
    endif()
endif()
