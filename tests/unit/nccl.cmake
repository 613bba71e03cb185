unit_test(run_spec_nccl rb_common)
if(TARGET rb_worker_nccl)
    unit_test(nccl_identity rb_worker_nccl)
    unit_test(nccl_lib rb_worker_nccl)
    unit_test(nccl_profiler rb_worker_nccl)
    unit_test(nccl_table rb_worker_nccl)
    unit_test(nccl_pattern rb_worker)
    unit_test(shared_object rb_worker_nccl)

    # Worker processes over the emulated libraries.
    add_library(rb_nccl_fixture STATIC nccl_fixture.c)
    target_link_libraries(rb_nccl_fixture PUBLIC rb_worker_fixture rb_common
        PkgConfig::CMOCKA)
    target_compile_definitions(rb_nccl_fixture PUBLIC
        WORKER_NCCL="$<TARGET_FILE:ringbench-worker-nccl>"
        EMULATED_CUDART="$<TARGET_FILE:emulated_cudart>"
        EMULATED_CUDART_DIRS="$<TARGET_FILE_DIR:emulated_cudart>:$<TARGET_FILE_DIR:emulated_cudart_12>"
        EMULATED_NCCL="$<TARGET_FILE:emulated_nccl>"
        EMULATED_NVML="$<TARGET_FILE:emulated_nvml>"
        EMULATED_NCCL_OLD="$<TARGET_FILE:emulated_nccl_old>")
    add_dependencies(rb_nccl_fixture ringbench-worker-nccl emulated_cudart emulated_cudart_12
        emulated_nccl emulated_nccl_old emulated_nvml)
    foreach(noun nccl_worker nccl_options nccl_guard nccl_runtime)
        unit_test(${noun} rb_nccl_fixture)
        set_tests_properties(unit_${noun} PROPERTIES TIMEOUT 900)
    endforeach()
    unit_test(emulated_graph emulated_cudart)
    unit_test(emulated_nccl emulated_nccl)
    target_link_libraries(test_emulated_nccl PRIVATE emulated_cudart Threads::Threads)

    # What the worker declares of CUDA and NCCL, against their headers where they are.
    find_path(RINGBENCH_CUDA_INCLUDE cuda_runtime_api.h HINTS ENV CUDA_HOME
        PATHS /usr/local/cuda PATH_SUFFIXES include)
    find_path(RINGBENCH_NCCL_INCLUDE nccl.h HINTS ENV NCCL_HOME ENV CUDA_HOME
        PATHS /usr/local/cuda PATH_SUFFIXES include)
    if(RINGBENCH_CUDA_INCLUDE AND RINGBENCH_NCCL_INCLUDE)
        foreach(noun nccl_abi nccl_calls)
            unit_test(${noun} rb_common)
            target_include_directories(test_${noun} SYSTEM PRIVATE
                ${RINGBENCH_CUDA_INCLUDE} ${RINGBENCH_NCCL_INCLUDE})
        endforeach()
    else()
        message(STATUS "Tests: no headers of CUDA and NCCL, nccl_abi and nccl_calls are left out")
    endif()
endif()
