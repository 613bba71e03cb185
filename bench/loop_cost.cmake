# SPDX-License-Identifier: Apache-2.0
if(TARGET ringbench-worker-nccl)
    add_library(stub_gpu SHARED stub_gpu.c)
    set_target_properties(stub_gpu PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench/stub)
endif()
