/* test_nccl_lib.c - what a libnccl's file says of itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/worker/nccl/nccl_lib.h"

static void the_cuda_that_nccl_is_built_for_stands_in_it(void **state)
{
    static const char content[] = "\0Mismatched NCCL version detected\0NCCL version "
                                  "%s\0NCCL version 2.28.9 compiled "
                                  "with CUDA 13.0\0NCCL version 2.28.9+cuda12.9\0more";
    char path[] = "/tmp/ringbench-nccl-XXXXXX", text[NCCL_CUDA_TEXT_MAX] = "";
    int file = mkstemp(path);

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cuda_that_nccl_is_built_for_stands_in_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
