/* test_projection.c - times on more nodes, held against the model of the simulation */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "near.h"

#include <cmocka.h>

#include "agent/worker/sim/sim_model.h"
#include "common/base/json_util.h"
#include "server/analysis/projection.h"

#define RANKS_MAX 2048

/* A call of the simulation by one algorithm and protocol. */
struct way {
    enum collective_kind kind;
    enum sim_algorithm algorithm;
    enum sim_protocol protocol;
    double from_bytes; /* below, the model is another on more nodes */
};

/* What it takes on so many nodes of 8 ranks. */
static double modelled_us(const struct way *way, double bytes, size_t nodes)
{
    char *const none[] = {NULL};
    static char text[RANKS_MAX][16];
    static char *names[RANKS_MAX];
    struct sim_params params;
    struct sim_topology topology;
    struct sim_model model;
    struct sim_call call = {.kind = way->kind, .bytes = bytes, .root = -1};
    struct sim_estimate estimate;
    const size_t per_node = 8;

    assert_true(nodes * per_node <= RANKS_MAX);
    assert_int_equal(sim_params_read(none, &params, NULL), 0);
    for (size_t i = 0; i < nodes * per_node; i++) {
        snprintf(text[i], sizeof(text[i]), "n%zu", i / per_node);
        names[i] = text[i];
    }
    assert_int_equal(
        sim_topology_init(&topology, (int)(nodes * per_node), names, &params, NULL), 0);
    sim_model_init(&model, &params, &topology);
    assert_true(
        sim_model_estimate(&model, &call, way->algorithm, way->protocol, &estimate));
    sim_topology_release(&topology);
    return estimate.us;
}

static struct projection projected(const struct way *way, double bytes, size_t largest,
                                   size_t nodes)
{
    struct projection_point points[16];
    struct projection out;
    size_t n = 0;

    for (size_t i = 1; i <= largest; i *= 2)
        points[n++] = (struct projection_point){i, 8 * i, modelled_us(way, bytes, i)};
    projection_make(points, n, nodes, 8 * nodes, &out);
    return out;
}

/* 256 nodes from runs on 4 to 32, by each algorithm: within a tenth, or refused. */
static void the_model_is_met(void **state)
{
    static const struct way ways[] = {
        {COLLECTIVE_ALL_REDUCE, SIM_RING, SIM_LL, 0},
        {COLLECTIVE_ALL_REDUCE, SIM_RING, SIM_SIMPLE, 8 << 20},
        {COLLECTIVE_ALL_REDUCE, SIM_TREE, SIM_LL128, 0},
        {COLLECTIVE_ALL_REDUCE, SIM_TREE, SIM_SIMPLE, 0},
        {COLLECTIVE_ALL_GATHER, SIM_RING, SIM_SIMPLE, 0},
        {COLLECTIVE_REDUCE_SCATTER, SIM_RING, SIM_LL128, 0},
    };

    size_t done = 0, all = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        for (int power = 3; power <= 30; power += 3) {
            double bytes = ldexp(1, power);
            struct projection out = projected(&ways[i], bytes, 32, 256);
            double want = modelled_us(&ways[i], bytes, 256);

            if (bytes < ways[i].from_bytes)
                continue;
            all++;
            if (out.answer != PROJECTION_DONE)
                continue;
            done++;
            if (fabs(out.time_us / want - 1) > 0.1)
                fail_msg("%zu, %g bytes: %s: %.1f us (%.1f to %.1f), is %.1f; %.3f", i,
                         bytes, out.form, out.time_us, out.low_us, out.high_us, want,
                         out.error);
        }
    assert_in_range(done, all - 2, all);
}

static const struct way ring = {COLLECTIVE_ALL_REDUCE, SIM_RING, SIM_SIMPLE, 0};

static void a_ring_is_told_exactly(void **state)
{
    struct projection_point points[] = {{4, 4, 140}, {8, 8, 180}, {16, 16, 260}};
    struct projection out;

    (void)state;
    projection_make(points, 3, 64, 64, &out);
    assert_int_equal(out.answer, PROJECTION_DONE);
    assert_near(out.time_us, 740, 0.01);
    assert_near(out.error, 0, 1e-6);
    assert_string_equal(out.form, "a + b nodes");
}

static void beyond_eight_times_the_count_to_measure_is_named(void **state)
{
    struct projection out = projected(&ring, 1 << 20, 32, 400);

    (void)state;
    assert_int_equal(out.answer, PROJECTION_FAR);
    assert_int_equal(out.measure, 50);
}

static void two_counts_are_too_few(void **state)
{
    struct projection out = projected(&ring, 1 << 20, 8, 64);

    (void)state;
    assert_int_equal(out.answer, PROJECTION_FEW);
    assert_int_equal(out.measure, 16);
}

/* The last count is in another regime. */
static void a_fit_that_is_off_is_refused(void **state)
{
    struct projection_point points[] = {
        {4, 4, 140}, {8, 8, 180}, {16, 16, 260}, {32, 32, 900}};
    struct projection out;

    (void)state;
    projection_make(points, 4, 128, 128, &out);
    assert_int_equal(out.answer, PROJECTION_OFF);
    assert_int_equal(out.measure, 64);
    assert_true(out.error > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_met),
        cmocka_unit_test(a_ring_is_told_exactly),
        cmocka_unit_test(beyond_eight_times_the_count_to_measure_is_named),
        cmocka_unit_test(two_counts_are_too_few),
        cmocka_unit_test(a_fit_that_is_off_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
