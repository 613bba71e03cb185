/* test_memory_ceiling.c - what a triad says of collectives over shared memory */
#include "common/base/json_util.h"
#include "common/spec/collective.h"
#include "server/analysis/memory_ceiling.h"
#include "tests/unit/test.h"

#define MIB (INT64_C(1) << 20)

/* Bus bandwidth in units of the triad's, and the size in those of the caches. */
static const struct {
    const char *collective;
    int ranks;
    double busbw, from;
} expected[] = {
    {"all_reduce", 2, 1.0 / 4, 1},      {"all_reduce", 4, 1.5 / 8, 0.5},
    {"all_gather", 4, 0.75 / 4, 1},     {"reduce_scatter", 4, 0.75 / 5, 4.0 / 5},
    {"broadcast", 2, 1.0 / 2, 2},       {"broadcast", 4, 1.0 / 4, 1},
    {"reduce", 4, 1.0 / 5, 4.0 / 5},    {"alltoall", 4, 0.75 / 6, 2.0 / 3},
    {"gather", 4, 0.75 / 1.5, 8.0 / 3}, {"scatter", 2, 0.5, 4},
    {"sendrecv", 4, 1.0 / 8, 0.5},      {"hypercube", 4, 0.75 / 4, 1},
};

static json_t *of(int ranks, double gbs)
{
    struct memory_triad triad;
    json_t *event = json_pack("{s:f, s:i, s:I}", "gbs", gbs, "ranks", ranks,
                              "cache_bytes", (json_int_t)(32 * MIB));
    json_t *verdict;

    assert_true(memory_triad_read(event, &triad));
    verdict = memory_ceiling_verdict(&triad);
    json_decref(event);
    assert_non_null(verdict);
    return verdict;
}

TEST(bytes_that_must_move_bound_the_bandwidth)
{
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        json_t *verdict = of(expected[i].ranks, 80);
        const json_t *evidence = json_object_get(verdict, "evidence");
        const char *name = expected[i].collective;

        assert_near(json_get_num(json_object_get(evidence, "busbw_gbs"), name, 0),
                    80 * expected[i].busbw, 1e-9);
        assert_near(json_get_num(json_object_get(evidence, "from_bytes"), name, 0),
                    expected[i].from * 32 * MIB, 1);
        json_decref(verdict);
    }
}

/* No collective's bus bandwidth can exceed its own bytes per time: all that a rank needs
 * of others has to be read and written by somebody. */
TEST(no_figure_exceeds_the_memory)
{
    for (int ranks = 2; ranks <= 64; ranks *= 2) {
        json_t *verdict = of(ranks, 80), *figure;
        json_t *figures =
            json_object_get(json_object_get(verdict, "evidence"), "busbw_gbs");
        const char *name;

        assert_int_equal(json_object_size(figures), COLLECTIVE_COUNT - 1);
        assert_null(json_object_get(figures, "alltoallv"));
        json_object_foreach (figures, name, figure)
            assert_true(json_real_value(figure) > 0 && json_real_value(figure) <= 40);
        json_decref(verdict);
    }
}

TEST(the_limit_names_what_was_measured)
{
    json_t *verdict = of(4, 53.94), *slower = of(4, 20);

    assert_string_equal(
        json_get_str(json_object_get(verdict, "evidence"), "limit", ""),
        "memory: triad of 4 ranks, 53.9 GB/s; not within caches (32 MiB)");
    assert_true(memory_ceiling_is_better(verdict, NULL));
    assert_true(memory_ceiling_is_better(verdict, slower));
    assert_false(memory_ceiling_is_better(slower, verdict));
    json_decref(slower);
    json_decref(verdict);
}

TEST(what_is_none_is_not_taken)
{
    static const char *const events[] = {
        "{}", "{\"gbs\":-1,\"ranks\":2,\"cache_bytes\":1}",
        "{\"gbs\":1,\"ranks\":1,\"cache_bytes\":1}",
        "{\"gbs\":1,\"ranks\":2,\"cache_bytes\":0}",
        "{\"gbs\":1,\"ranks\":2,\"cache_bytes\":9223372036854775807}"};

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        json_t *event = json_loads(events[i], 0, NULL);
        struct memory_triad triad;

        assert_non_null(event);
        assert_false(memory_triad_read(event, &triad));
        json_decref(event);
    }
}
