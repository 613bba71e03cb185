/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_lib.c - what a libnccl's file says of itself */
#include "agent/worker/nccl/nccl_lib.h"
#include "tests/unit/test.h"

TEST(the_cuda_that_nccl_is_built_for_stands_in_it)
{
    static const char content[] = "\0Mismatched NCCL version detected\0NCCL version "
                                  "%s\0NCCL version 2.28.9 compiled "
                                  "with CUDA 13.0\0NCCL version 2.28.9+cuda12.9\0more";
    char path[] = "/tmp/ringbench-nccl-XXXXXX", text[NCCL_CUDA_TEXT_MAX] = "";
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(nccl_lib_cuda(path, text), -1);
    assert_int_equal(write(file, content, sizeof(content)), sizeof(content));
    assert_int_equal(nccl_lib_cuda(path, text), 0);
    assert_string_equal(text, "12.9");
    assert_int_equal(ftruncate(file, sizeof(content) - 12), 0);
    assert_int_equal(nccl_lib_cuda(path, text), -1);
    close(file);
    unlink(path);
    assert_int_equal(nccl_lib_cuda(path, text), -1);
}
