# SPDX-License-Identifier: Apache-2.0
if(TARGET rb_worker_nccl)
    unit_tests(nccl LIBS rb_worker_nccl TESTS
        nccl_identity nccl_interface nccl_lib nccl_profiler nccl_releases shared_object)
    find_program(RINGBENCH_PTXAS ptxas HINTS ENV CUDA_HOME PATHS /usr/local/cuda/bin)
    set(ptxas "${RINGBENCH_PTXAS}")
    if(NOT RINGBENCH_PTXAS)
        set(ptxas "")
        message(STATUS "Tests: no ptxas, the kernels' PTX is not tried")
    endif()
    unit_define(nccl_releases PTXAS="${ptxas}")

    # Worker processes over the emulated libraries.
    add_library(rb_nccl_fixture STATIC nccl_fixture.c)
    target_link_libraries(rb_nccl_fixture PUBLIC rb_worker_fixture rb_common
        PkgConfig::CMOCKA)
    target_compile_definitions(rb_nccl_fixture PUBLIC
        WORKER_NCCL="$<TARGET_FILE:ringbench-worker-nccl>"
        EMULATED_CUDART="$<TARGET_FILE:emulated_cudart>"
        EMULATED_CUDART_12="$<TARGET_FILE:emulated_cudart_12>"
        EMULATED_CUDART_DIRS="$<TARGET_FILE_DIR:emulated_cudart>:$<TARGET_FILE_DIR:emulated_cudart_12>"
        EMULATED_NCCL="$<TARGET_FILE:emulated_nccl>"
        EMULATED_NVML="$<TARGET_FILE:emulated_nvml>"
        EMULATED_NCCL_OLD="$<TARGET_FILE:emulated_nccl_old>")
    add_dependencies(rb_nccl_fixture ringbench-worker-nccl emulated_cudart emulated_cudart_12
        emulated_nccl emulated_nccl_old emulated_nvml)
    unit_tests(nccl_worker LIBS rb_nccl_fixture TESTS
        nccl_guard nccl_options nccl_runtime nccl_types nccl_worker)
    set_tests_properties(unit_nccl_guard unit_nccl_options unit_nccl_runtime unit_nccl_types
        unit_nccl_worker PROPERTIES TIMEOUT 1800)

    unit_tests(emulation LIBS emulated_nccl emulated_cudart Threads::Threads TESTS
        emulated_graph emulated_nccl)
    # nccl_worker takes a minute there, and starts no threads that nccl_options does not.
    unit_threads(emulated_graph emulated_nccl nccl_guard nccl_options)

    # What the worker declares of CUDA and NCCL, against their headers where they are.
    find_path(RINGBENCH_CUDA_INCLUDE cuda_runtime_api.h HINTS ENV CUDA_HOME
        PATHS /usr/local/cuda PATH_SUFFIXES include)
    find_path(RINGBENCH_NCCL_INCLUDE nccl.h HINTS ENV NCCL_HOME ENV CUDA_HOME
        PATHS /usr/local/cuda PATH_SUFFIXES include)
    if(RINGBENCH_CUDA_INCLUDE AND RINGBENCH_NCCL_INCLUDE)
        unit_test(nccl_abi rb_common)
        # Drops calls that nothing makes, as NCCL is not linked.
        target_compile_options(units_nccl_abi PRIVATE -O1)
        target_include_directories(units_nccl_abi SYSTEM PRIVATE
            ${RINGBENCH_CUDA_INCLUDE} ${RINGBENCH_NCCL_INCLUDE})
    else()
        message(STATUS "Tests: no headers of CUDA and NCCL, nccl_abi is left out")
    endif()
endif()
