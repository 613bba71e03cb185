/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_types.c - every collective, type and operation of the NCCL worker, with
 * emulated libraries */
#include "common/base/json_util.h"
#include "tests/unit/nccl_fixture.h"
#include "tests/unit/test.h"

GROUP_FIXTURE(nccl_set_up, nccl_tear_down);
EACH_FIXTURE(NULL, nccl_end);

/* Every collective and operation; %s is a list of quoted types. */
static const char all_words[] =
    "\"collectives\":[\"all_reduce\",\"all_gather\",\"reduce_scatter\",\"broadcast\","
    "\"reduce\",\"alltoall\",\"gather\",\"scatter\",\"sendrecv\"],"
    "\"dtypes\":[%s],"
    "\"redops\":[\"sum\",\"prod\",\"min\",\"max\",\"avg\",\"mulsum\"],"
    "\"in_place\":\"both\","
    "\"sizes\":[1000,6000],\"iters\":2,\"root\":-1";

#define OLD_TYPES                                                                        \
    "\"int8\",\"uint8\",\"int32\",\"uint32\",\"int64\",\"uint64\",\"float16\","          \
    "\"float32\",\"float64\",\"bfloat16\""
#define NEW_TYPES "\"float8e4m3\",\"float8e5m2\""

/* Rows of all_words. Root -1 makes a rooted collective run once with each rank as the
 * root. */
static size_t all_rows(size_t dtypes)
{
    size_t reducing = 6 * (1 + 1 + RANKS), others = 1 + 1 + 1 + 3 * RANKS;

    return dtypes * (reducing + others) * 2 * 2;
}

/* Under a sanitizer, one type of each element size is enough. */
static void run_all(const char *settings, const char *dtypes, size_t n)
{
    const bool is_short = test_seeds(10) < 10;
    char words[1024];

    snprintf(words, sizeof(words), all_words,
             is_short ? "\"int8\",\"bfloat16\",\"float32\",\"int64\"" : dtypes);
    nccl_write_case(words, "");
    nccl_run(settings);
    nccl_assert_all_ok();
    nccl_assert_rows_right(all_rows(is_short ? 4 : n));
}

TEST(every_collective_type_and_operation_is_right)
{
    run_all("devices=4", OLD_TYPES "," NEW_TYPES, 12);
    for (int rank = 0; rank < RANKS; rank++) {
        assert_true(json_get_bool(nccl.connected[rank], "emulated", false));
        assert_true(json_get_num(nccl.connected[rank], "init_s", -1) >= 0);
        assert_true(json_get_bool(nccl.connected[rank], "checks_on_gpu", false));
        assert_string_equal(json_get_str(nccl.connected[rank], "device", ""),
                            "emulated GPU");
    }
}

/* With NCCL 2.18, the worker groups sends and receives, allocates with cudaMalloc, and
 * has no fp8 types. */
TEST(an_old_library_does_the_same)
{
    char words[1024];

    setenv("RINGBENCH_NCCL_LIB", EMULATED_NCCL_OLD, 1);
    run_all("devices=4,no_kernels", OLD_TYPES, 10);
    assert_false(json_get_bool(nccl.connected[0], "checks_on_gpu", true));
    assert_string_equal(json_get_str(nccl.connected[0], "nccl_version", ""), "2.18.5");
    snprintf(words, sizeof(words), all_words, "\"float8e4m3\"");
    nccl_write_case(words, "");
    nccl_run("devices=4");
    assert_string_equal(nccl_error_of(0, "code"), "unsupported");
    assert_string_equal(nccl_error_of(0, "text"),
                        "backend nccl does not support type float8e4m3");
    setenv("RINGBENCH_NCCL_LIB", EMULATED_NCCL, 1);
}
