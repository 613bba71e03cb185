/* test_nccl_table.c - what NCCL 2.18 and 2.19 log of what they choose by, and what is
 * made of it. That it is what NCCL chooses, by size, is for
 * tests/integration/nccl_choice.test.mjs. */
#include "agent/worker/nccl/nccl_table.h"
#include "tests/unit/test.h"

static bool tell(struct nccl_table *table, const char *text)
{
    char line[512];

    snprintf(line, sizeof(line), "node:1:2 [0] NCCL INFO %s\n", text);
    return nccl_table_read(table, line);
}

#define HEAD                                                                             \
    "  Algorithm   |                           Tree                  |                "  \
    "           Ring                  |                  CollNetDirect                 " \
    " "                                                                                  \
    "|"
#define THREADS " Max NThreads | 512 | 640 | 512 | 512 | 640 | 256 | 0 | 0 | 640 |"

/* Of one host with 2 GPUs, whose all-reduces may go by these. */
static void fill(struct nccl_table *table, const char *all_reduce)
{
    *table = (struct nccl_table){.channels = 0};
    assert_true(tell(table, HEAD));
    assert_true(tell(table, "  Protocol    |             LL |         LL128 |"));
    assert_true(tell(table, THREADS));
    assert_true(tell(table, all_reduce));
    assert_true(tell(table, "threadThresholds 8/8/64 | 16/8/64 | 512 | 512"));
    assert_true(tell(table, "8 coll channels, 0 nvls channels, 2 p2p channels, 2 p2p "
                            "channels per peer"));
}

static struct nccl_table_call all_reduce(size_t count)
{
    return (struct nccl_table_call){.kind = COLLECTIVE_ALL_REDUCE,
                                    .dtype = DTYPE_FLOAT32,
                                    .redop = REDOP_SUM,
                                    .count = count,
                                    .ranks = 2,
                                    .hosts = 1,
                                    .capability = 90};
}

static void check(const struct nccl_table *table, const struct nccl_table_call *call,
                  const char *algo, const char *proto, int channels)
{
    struct choice choice = {.channels = 0};

    nccl_table_predict(table, call, &choice);
    assert_string_equal(choice.algo, algo);
    assert_string_equal(choice.proto, proto);
    assert_int_equal(choice.channels, channels);
    assert_string_equal(choice.by, *algo ? "table" : "");
}

TEST(the_least_expected_time_wins)
{
    struct nccl_table table;
    struct nccl_table_call small = all_reduce(2), large = all_reduce(1 << 24);

    fill(&table, "    AllReduce |     7.2/  18.4 |    15.6/   0.0 |    21.5/  58.7 |"
                 "     9.4/  21.9 |    16.8/  74.6 |    24.9/  88.2 |     0.0/   0.0 |"
                 "     0.0/   0.0 |     0.0/   0.0 |");
    check(&table, &small, "TREE", "LL", 1);
    check(&table, &large, "RING", "SIMPLE", 8);
    large.count = 0;
    check(&table, &large, "", "", 0);
    small.kind = COLLECTIVE_ALLTOALL;
    check(&table, &small, "", "", 0);
    small.kind = COLLECTIVE_REDUCE; /* has no line */
    check(&table, &small, "", "", 0);
}

/* 7.2 may be 7.25, and so may 7.3. */
TEST(what_rounding_leaves_open_is_not_said)
{
    struct nccl_table table;
    struct nccl_table_call call = all_reduce(2);

    fill(&table, "    AllReduce |     7.2/  18.4 |     0.0/   0.0 |     0.0/   0.0 |"
                 "     7.3/  18.4 |     0.0/   0.0 |     0.0/   0.0 |     0.0/   0.0 |"
                 "     0.0/   0.0 |     0.0/   0.0 |");
    check(&table, &call, "", "", 0);
    table.costs[4][1][0].latency_us = 7.5F;
    check(&table, &call, "TREE", "LL", 1);
}

/* Whether its plugin can reduce that is not logged. */
TEST(where_collnet_might_win_nothing_is_said)
{
    struct nccl_table table;
    struct nccl_table_call small = all_reduce(2), large = all_reduce(1 << 24);

    fill(&table, "    AllReduce |     7.2/  18.4 |     0.0/   0.0 |     0.0/   0.0 |"
                 "     9.3/  18.4 |     0.0/   0.0 |     0.0/   0.0 |     0.0/   0.0 |"
                 "     0.0/   0.0 |    30.0/  90.1 |");
    small.hosts = large.hosts = 2;
    check(&table, &small, "TREE", "LL", 1);
    check(&table, &large, "", "", 0);
}

TEST(other_lines_change_nothing)
{
    static const char *const others[] = {
        "",
        "|",
        "AllReduce",
        "  Nothing |     1.0/   1.0 |",
        "16 coll channels, 16 collnet channels, 8 nvls channels, 4 p2p channels",
        "threadThresholds 8/8",
        "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM",
    };
    struct nccl_table table = {.channels = 3};
    const struct nccl_table before = table;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(tell(&table, others[i]));
    assert_false(nccl_table_read(&table, "    AllReduce |     7.2/  18.4 |"));
    /* A line with nothing in it, and one of a block whose head was not seen. */
    assert_true(tell(&table, "AllReduce | 1.0 | -1.0/2.0 | x |"));
    assert_true(tell(&table, "AllReduce | 1.0/2.0 |"));
    assert_memory_equal(&table.costs, &before.costs, sizeof(table.costs));
    assert_int_equal(table.channels, 3);
}

TEST(absurd_figures_end)
{
    struct nccl_table table;
    struct nccl_table_call call = all_reduce(SIZE_MAX / 8);

    fill(&table, "    AllReduce |     7.2/999999999999.9 |");
    assert_true(tell(&table, " Max NThreads | 0 | 0 | 0 |"));
    check(&table, &call, "TREE", "LL", 0);
    assert_true(tell(&table, "-5 coll channels, 0 nvls channels"));
    check(&table, &call, "", "", 0);
    assert_true(tell(&table, "999999999 coll channels, 0 nvls channels"));
    check(&table, &call, "", "", 0);
}
