/* test_crossing.c - what collectives move between places, against figures by hand */
#include "common/spec/crossing.h"
#include "tests/unit/test.h"

/* Six ranks on three places, two on each. */
static const int shared[] = {0, 0, 1, 1, 2, 2};
static const int alone[] = {0, 1, 2, 3};

struct figures {
    enum collective_kind kind;
    int n, root;
    const int *places;
    int n_places;
    enum crossing_way way;
    double total;    /* over all places, in one direction, of calls of 600 bytes */
    double of_first; /* what place 0 sends */
};

static const struct figures table[] = {
    {COLLECTIVE_ALL_REDUCE, 6, -1, shared, 3, CROSSING_RING, 3000, 1000},
    {COLLECTIVE_ALL_GATHER, 6, -1, shared, 3, CROSSING_RING, 9000, 3000},
    {COLLECTIVE_REDUCE_SCATTER, 4, -1, alone, 4, CROSSING_RING, 7200, 1800},
    {COLLECTIVE_BROADCAST, 4, 1, alone, 4, CROSSING_CHAIN, 1800, 0},
    {COLLECTIVE_REDUCE, 4, 1, alone, 4, CROSSING_CHAIN, 1800, 600},
    {COLLECTIVE_BROADCAST, 6, 1, shared, 3, CROSSING_UNKNOWN, 0, 0},
    {COLLECTIVE_ALLTOALL, 6, -1, shared, 3, CROSSING_DIRECT, 14400, 4800},
    {COLLECTIVE_GATHER, 6, 3, shared, 3, CROSSING_DIRECT, 2400, 1200},
    {COLLECTIVE_SCATTER, 6, 0, shared, 3, CROSSING_DIRECT, 2400, 2400},
    {COLLECTIVE_SENDRECV, 6, -1, shared, 3, CROSSING_DIRECT, 1800, 600},
    {COLLECTIVE_HYPERCUBE, 4, -1, alone, 4, CROSSING_DIRECT, 7200, 1800},
};

static struct crossing_call call_of(const struct figures *figures)
{
    return (struct crossing_call){.kind = figures->kind,
                                  .bytes = 600,
                                  .n = figures->n,
                                  .root = figures->root,
                                  .places = figures->places,
                                  .n_places = figures->n_places};
}

TEST(each_collective_moves_what_its_algorithm_does)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct crossing_call call = call_of(&table[i]);
        double sent = 0, received = 0, of_first = 0;

        assert_int_equal(crossing_way(&call), table[i].way);
        for (int rank = 0; rank < call.n; rank++) {
            struct crossing one = crossing_of(&call, rank);

            sent += one.sent;
            received += one.received;
            of_first += call.places[rank] == 0 ? one.sent : 0;
        }
        if (fabs(sent - table[i].total) > 1e-6 || fabs(received - sent) > 1e-6 ||
            fabs(of_first - table[i].of_first) > 1e-6)
            fail_msg("%s: %g sent, %g received, %g by the first place",
                     collective_name(call.kind), sent, received, of_first);
    }
}

TEST(parts_of_unlike_size_are_counted_one_by_one)
{
    static const int places[] = {0, 0, 1};
    size_t sent[] = {9, 4, 2}, received[] = {9, 1, 5};
    struct traffic_plan plan = {.n = 3, .send_count = sent, .recv_count = received};
    struct crossing_call call = {.kind = COLLECTIVE_ALLTOALLV,
                                 .n = 3,
                                 .places = places,
                                 .n_places = 2,
                                 .traffic = &plan,
                                 .element = 8};
    struct crossing one = crossing_of(&call, 0);

    assert_true(fabs(one.sent - 16) < 1e-9 && fabs(one.received - 40) < 1e-9);
}

/* Of two nodes of eight ranks a ring moves 15/8 of the bytes, a tree one of them. */
TEST(a_tree_counts_nodes_and_not_ranks)
{
    struct crossing_call call = {.kind = COLLECTIVE_ALL_REDUCE, .n = 16, .n_places = 2};

    assert_true(fabs(crossing_of_tree(&call) - 8.0 / 15) < 1e-9);
}

TEST(nothing_leaves_a_single_place)
{
    static const int places[] = {0, 0, 0, 0};

    for (int kind = 0; kind < COLLECTIVE_ALLTOALLV; kind++) {
        struct crossing_call call = {.kind = (enum collective_kind)kind,
                                     .bytes = 600,
                                     .n = 4,
                                     .places = places,
                                     .n_places = 1};

        for (int rank = 0; rank < call.n; rank++)
            assert_true(!(crossing_of(&call, rank).sent > 0));
    }
}
