/* test_nccl_runtime.c - which CUDA runtime the NCCL worker takes, over emulated ones */
#include "common/base/json_util.h"
#include "tests/unit/mentions.h"
#include "tests/unit/nccl_fixture.h"
#include "tests/unit/test.h"

GROUP_FIXTURE(nccl_set_up, nccl_tear_down);

static void assert_runtime(const char *emulation, const char *runtime, const char *reason)
{
    json_t *answer = nccl_probe(emulation);

    assert_string_equal(json_get_str(answer, "cuda_runtime", "none"), runtime);
    if (reason)
        assert_mentions(json_get_str(answer, "reason", ""), reason);
    else
        assert_string_equal(json_get_str(answer, "reason", ""), "");
    json_decref(answer);
}

TEST(the_driver_decides_among_those_that_are_found)
{
    unsetenv("RINGBENCH_CUDART_LIB");
    setenv("LD_LIBRARY_PATH", EMULATED_CUDART_DIRS, 1);
    assert_runtime("driver=13000", "13.0", NULL);
    assert_runtime("driver=12040", "12.8", NULL);
    /* None fits, or none can be asked: it stays with the newest. */
    assert_runtime("driver=11080", "13.0", NULL);
    assert_runtime("no_driver", "13.0", "NVIDIA driver");
    unsetenv("LD_LIBRARY_PATH");
}

TEST(the_one_that_is_named_is_taken)
{
    setenv("LD_LIBRARY_PATH", EMULATED_CUDART_DIRS, 1);
    setenv("RINGBENCH_CUDART_LIB", EMULATED_CUDART, 1);
    assert_runtime("driver=12040", "13.0", NULL);
    unsetenv("LD_LIBRARY_PATH");
}
