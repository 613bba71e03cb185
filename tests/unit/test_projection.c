/* test_projection.c - times on more nodes, held against the model of the simulation */
#include "near.h"

#include "agent/worker/sim/sim_model.h"
#include "common/base/json_util.h"
#include "server/analysis/projection.h"
#include "tests/unit/test.h"

#define RANKS_MAX 2048

/* A call of the simulation by one algorithm and protocol, or as it chooses. */
struct way {
    enum collective_kind kind;
    enum sim_algorithm algorithm;
    enum sim_protocol protocol;
    bool is_chosen; /* whichever the model takes */
};

/* Nodes of 8 ranks of the simulation. */
struct fleet {
    struct sim_params params;
    struct sim_topology topology;
    struct sim_model model;
};

static void fleet_init(struct fleet *fleet, size_t nodes)
{
    char *const none[] = {NULL};
    static char text[RANKS_MAX][16];
    static char *names[RANKS_MAX];
    const size_t per_node = 8;

    assert_true(nodes * per_node <= RANKS_MAX);
    assert_int_equal(sim_params_read(none, &fleet->params, NULL), 0);
    for (size_t i = 0; i < nodes * per_node; i++) {
        snprintf(text[i], sizeof(text[i]), "n%zu", i / per_node);
        names[i] = text[i];
    }
    assert_int_equal(sim_topology_init(&fleet->topology, (int)(nodes * per_node), names,
                                       &fleet->params, NULL),
                     0);
    sim_model_init(&fleet->model, &fleet->params, &fleet->topology);
}

/* What a call takes on so many nodes, one way or as the model chooses. */
static double modelled_us(const struct way *way, double bytes, size_t nodes)
{
    struct sim_call call = {.kind = way->kind, .bytes = bytes, .root = -1};
    struct sim_estimate estimate;
    struct fleet fleet;

    fleet_init(&fleet, nodes);
    if (way->is_chosen)
        estimate = sim_model_choose(&fleet.model, &call);
    else
        assert_true(sim_model_estimate(&fleet.model, &call, way->algorithm, way->protocol,
                                       &estimate));
    sim_topology_release(&fleet.topology);
    return estimate.us;
}

/* From runs on 1, 2, 4 ... nodes, 8 B to 1 GiB by powers of 2. */
static struct projection projected(const struct way *way, double bytes, size_t largest,
                                   size_t nodes)
{
    struct projection_point points[16];
    struct case_point curve[28];
    struct projection_question asked = {.points = points,
                                        .size = (int64_t)bytes,
                                        .curve = curve,
                                        .n_curve = 28,
                                        .nodes = nodes,
                                        .ranks = 8 * nodes};
    struct projection out;

    for (size_t i = 1; i <= largest; i *= 2)
        points[asked.n_points++] = (struct projection_point){
            .nodes = i, .ranks = 8 * i, .time_us = modelled_us(way, bytes, i)};
    for (int i = 0; i < 28; i++)
        curve[i] = (struct case_point){
            .size = (int64_t)8 << i,
            .time_us = modelled_us(way, (double)((int64_t)8 << i), largest)};
    projection_make(&asked, &out);
    return out;
}

/* How many of 28 sizes are projected on 8 times as many nodes: each within its interval,
 * which is no wider than twice its begin. */
static size_t assert_met(const struct way *way, size_t largest)
{
    size_t done = 0;

    for (int power = 3; power <= 30; power++) {
        double bytes = ldexp(1, power);
        struct projection out = projected(way, bytes, largest, 8 * largest);
        double want = modelled_us(way, bytes, 8 * largest);

        if (out.answer != PROJECTION_DONE)
            continue;
        done++;
        assert_true(out.high_us < 2.001 * out.low_us);
        if (out.low_us > want * 1.01 || out.high_us < want * 0.99)
            fail_msg("%d of %zu, %g bytes: %s: %.1f us (%.1f to %.1f), is %.1f; %.3f",
                     (int)way->kind, largest, bytes, out.form, out.time_us, out.low_us,
                     out.high_us, want, out.error);
    }
    return done;
}

/* 256 nodes from runs on 4 to 32, by each algorithm. */
TEST(the_model_is_met)
{
    static const struct way ways[] = {
        {COLLECTIVE_ALL_REDUCE, SIM_RING, SIM_LL, false},
        {COLLECTIVE_ALL_REDUCE, SIM_RING, SIM_SIMPLE, false},
        {COLLECTIVE_ALL_REDUCE, SIM_TREE, SIM_LL128, false},
        {COLLECTIVE_ALL_REDUCE, SIM_TREE, SIM_SIMPLE, false},
        {COLLECTIVE_ALL_GATHER, SIM_RING, SIM_SIMPLE, false},
        {COLLECTIVE_REDUCE_SCATTER, SIM_RING, SIM_LL128, false},
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        assert_in_range(assert_met(&ways[i], 32), 16, 28);
}

/* Left to choose, it takes other algorithms on more nodes: none of these sizes is shown.
 */
TEST(a_size_of_another_algorithm_is_refused)
{
    static const enum collective_kind kinds[] = {
        COLLECTIVE_ALL_REDUCE,     COLLECTIVE_ALL_GATHER, COLLECTIVE_ALLTOALL,
        COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_BROADCAST,  COLLECTIVE_REDUCE};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (size_t largest = 16; largest <= 32; largest *= 2) {
            const struct way way = {.kind = kinds[i], .is_chosen = true};

            assert_in_range(assert_met(&way, largest), 14, 28);
        }
}

static const struct way ring = {COLLECTIVE_ALL_REDUCE, SIM_RING, SIM_SIMPLE, false};

static struct projection projected_from(const struct projection_point *points, size_t n,
                                        size_t nodes)
{
    struct case_point curve[3];
    const struct projection_question asked = {.points = points,
                                              .n_points = n,
                                              .size = 4096,
                                              .curve = curve,
                                              .n_curve = 3,
                                              .nodes = nodes,
                                              .ranks = nodes};
    struct projection out;

    for (int i = 0; i < 3; i++)
        curve[i] = (struct case_point){.size = 2048 << i, .time_us = 100};
    projection_make(&asked, &out);
    return out;
}

TEST(a_ring_is_told_exactly)
{
    const struct projection_point points[] = {{.nodes = 4, .ranks = 4, .time_us = 140},
                                              {.nodes = 8, .ranks = 8, .time_us = 180},
                                              {.nodes = 16, .ranks = 16, .time_us = 260}};
    struct projection out = projected_from(points, 3, 64);

    assert_int_equal(out.answer, PROJECTION_DONE);
    assert_near(out.time_us, 740, 0.01);
    assert_near(out.error, 0, 1e-6);
    assert_string_equal(out.form, "a + b nodes");
}

TEST(beyond_eight_times_the_count_to_measure_is_named)
{
    struct projection out = projected(&ring, 1 << 20, 32, 400);

    assert_int_equal(out.answer, PROJECTION_FAR);
    assert_int_equal(out.measure, 50);
}

TEST(two_counts_are_too_few)
{
    struct projection out = projected(&ring, 1 << 20, 8, 64);

    assert_int_equal(out.answer, PROJECTION_FEW);
    assert_int_equal(out.measure, 16);
}

/* The last count is in another regime. */
TEST(a_fit_that_is_off_is_refused)
{
    const struct projection_point points[] = {{.nodes = 4, .ranks = 4, .time_us = 140},
                                              {.nodes = 8, .ranks = 8, .time_us = 180},
                                              {.nodes = 16, .ranks = 16, .time_us = 260},
                                              {.nodes = 32, .ranks = 32, .time_us = 900}};
    struct projection out = projected_from(points, 4, 128);

    assert_int_equal(out.answer, PROJECTION_OFF);
    assert_int_equal(out.measure, 64);
    assert_true(out.error > 0.1);
}

/* Whose neighbours were not measured: nothing would show that it is another algorithm. */
TEST(a_size_alone_is_refused)
{
    struct projection_point points[3];
    const struct case_point curve = {.size = 1 << 20, .time_us = 100};
    const struct projection_question asked = {.points = points,
                                              .n_points = 3,
                                              .size = 1 << 20,
                                              .curve = &curve,
                                              .n_curve = 1,
                                              .nodes = 64,
                                              .ranks = 64};
    struct projection out;

    for (size_t i = 0; i < 3; i++)
        points[i] = (struct projection_point){
            .nodes = (size_t)4 << i, .ranks = (size_t)4 << i, .time_us = 100};
    projection_make(&asked, &out);
    assert_int_equal(out.answer, PROJECTION_ALONE);
    assert_near(out.size_from, 1 << 18, 0);
    assert_near(out.size_to, 1 << 22, 0);
}
