/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - warm up and time a row, and combine all ranks' figures */
#include "agent/worker/bench/measure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/bench/blocks.h"
#include "agent/worker/bench/fault.h"
#include "agent/worker/bench/timed.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

#define SAMPLES_AT_ONCE 1024
#define BLOCK_ITERS_MAX 1000000
#define TRIALS_MAX 6
/* largest factor by which a block grows per step, because calls may become slower */
#define GROWTH_MAX 20
#define ROUNDING 1e-6
#define SETTLED_PART 0.02 /* allowed barrier skew, as a fraction of the calls' time */
#define SETTLE_MAX 4      /* attempts to reach SETTLED_PART */
#define SKEW_BYTES 262144 /* limit for the arrivals that all ranks exchange per row */

/* Ranks exchange this struct. */
struct own_figures {
    double first_us, mean_us, enqueue_us;
    struct choice choice;
};

/* The loops of timed.h, unless the backend has its own. */
static const struct backend_timing host_timing = {.back_to_back = timed_back_to_back,
                                                  .blocking = timed_blocking,
                                                  .isolated = timed_isolated};

struct loop {
    struct bench *bench;
    const struct bench_row *row;
    struct backend_timing timing;
    struct timed timed;
    struct fault_wrap wrap;
    long iters;       /* submissions per block */
    double submit_us; /* the shortest submission of the warm-up */
    double *samples;  /* this rank's time of each iteration; NULL: not recorded */
    long n_samples;
    /* a block's times; NULL: not recorded, or the device records them */
    int64_t *each_ns;
    struct arrivals arrivals;
    bool has_graph;
    int64_t started_ns; /* start of the first block */
    long timed_iters;   /* submissions timed so far */
    struct own_figures own;
};

static int64_t now_ns(const struct loop *loop)
{
    return loop->timing.now_ns ? loop->timing.now_ns(loop->bench->comm)
                               : clock_monotonic_ns();
}

static double us_per_call(const struct loop *loop, int64_t ns, long submissions)
{
    return (double)ns / 1e3 /
           ((double)submissions * (double)loop->bench->file->spec->agg_iters);
}

/* ---- The calls under test ---- */

/* Replaces run on a rank whose group skips this row. */
static int run_nothing(struct backend_comm *comm, const struct backend_call *call,
                       struct error *err)
{
    (void)comm;
    (void)call;
    (void)err;
    return 0;
}

static int wait_for_nothing(struct backend_comm *comm, struct error *err)
{
    (void)comm;
    (void)err;
    return 0;
}

/* Set the calls to time from now on. `row` selects this rank's fault. */
static void set_calls(struct loop *loop, struct timed_calls calls, uint64_t row)
{
    loop->timed.calls = calls;
    if (loop->row->is_idle)
        loop->timed.calls.run = run_nothing;
    else
        fault_wrap(&loop->wrap, loop->bench, row, &loop->timed, &loop->timing);
}

static struct timed_calls plain_calls(const struct loop *loop)
{
    const struct backend *backend = loop->bench->backend;

    return (struct timed_calls){backend->run,
                                backend->wait ? backend->wait : wait_for_nothing,
                                loop->bench->comm, tree_barrier, loop->bench->tree};
}

/* Device events, if each submission is timed; NULL: the host's clock is used. */
static const struct backend_laps *laps_of(const struct loop *loop)
{
    const struct run_spec *spec = loop->bench->file->spec;
    bool is_each = spec->timing == TIMING_ISOLATED ||
                   (spec->per_iter && spec->blocking == BLOCKING_NONE);

    return is_each && !loop->row->is_idle ? loop->bench->backend->laps : NULL;
}

/* ---- Warm-up ---- */

static int call_once(struct loop *loop, double *us, struct error *err)
{
    struct timed_ns ns;

    loop->timed.iters = 1;
    if (loop->timing.blocking(&loop->timed, &ns, err))
        return -1;
    *us = (double)ns.total_ns / 1e3;
    return bench_stopped(loop->bench, err);
}

/* Run the first warm-up call and record the algorithm that NCCL reports for it. */
static int call_first(struct loop *loop, struct error *err)
{
    const struct backend *backend = loop->bench->backend;
    bool is_watched = !loop->row->is_idle && loop->row->call.count > 0;

    if (is_watched && backend->watch)
        backend->watch(loop->bench->comm);
    if (call_once(loop, &loop->submit_us, err))
        return -1;
    if (is_watched && backend->choice)
        backend->choice(loop->bench->comm, &loop->row->call, &loop->own.choice);
    return 0;
}

static int warm_up(struct loop *loop, struct error *err)
{
    const struct run_spec *spec = loop->bench->file->spec;

    if (call_first(loop, err))
        return -1;
    loop->own.first_us = loop->submit_us / (double)spec->agg_iters;
    loop->timed.calls.barrier = NULL;
    for (long i = 1; i < spec->warmup; i++) {
        double us;
        if (call_once(loop, &us, err))
            return -1;
        loop->submit_us = us < loop->submit_us ? us : loop->submit_us;
    }
    loop->timed.blocking = (enum blocking)spec->blocking;
    set_calls(loop, plain_calls(loop), loop->row->row.row);
    return 0;
}

/* ---- A block of submissions ---- */

/* Replace run and wait by the functions that record device events. */
static void set_laps(struct loop *loop, const struct backend_laps *laps)
{
    struct timed_calls calls = plain_calls(loop);

    calls.run = laps->run;
    calls.wait = laps->wait;
    set_calls(loop, calls, loop->row->row.row);
}

static void add_sample(struct loop *loop, double us)
{
    loop->samples[loop->n_samples++] = us / (double)loop->bench->file->spec->agg_iters;
}

static int take_samples(struct loop *loop, struct error *err)
{
    const struct backend_laps *laps = laps_of(loop);

    for (long i = 0; loop->samples && i < loop->iters; i++) {
        double us = loop->each_ns ? (double)loop->each_ns[i] / 1e3 : 0;
        if (laps && laps->us(loop->bench->comm, i, &us, err))
            return -1;
        add_sample(loop, us);
    }
    return 0;
}

static void keep_arrival(struct loop *loop, const struct timed_ns *ns)
{
    arrivals_add(&loop->arrivals, (struct arrival){ns->in_ns, ns->out_ns, ns->out_ns});
}

static int time_calls(struct loop *loop, struct own_figures *own, struct error *err)
{
    const struct backend_laps *laps = laps_of(loop);
    bool is_blocking = loop->timed.blocking != BLOCKING_NONE;
    struct timed_ns ns;

    if (laps) {
        set_laps(loop, laps);
        if (laps->begin(loop->bench->comm, loop->iters, err))
            return -1;
    }
    loop->timed.iters = loop->iters;
    loop->timed.each_ns = loop->each_ns;
    if (is_blocking ? loop->timing.blocking(&loop->timed, &ns, err)
                    : loop->timing.back_to_back(&loop->timed, &ns, err))
        return -1;
    keep_arrival(loop, &ns);
    own->enqueue_us = us_per_call(loop, ns.enqueue_ns, loop->iters);
    own->mean_us = us_per_call(loop, ns.total_ns, loop->iters);
    return take_samples(loop, err);
}

static int capture(struct loop *loop, struct error *err)
{
    const struct backend_graph *graph = loop->bench->backend->graph;
    struct progress uncounted;
    struct timed timed = loop->timed;
    struct timed_ns ns;

    memset(&uncounted, 0, sizeof(uncounted));
    timed.calls = plain_calls(loop);
    timed.calls.wait = wait_for_nothing;
    timed.calls.barrier = NULL;
    if (loop->row->is_idle)
        timed.calls.run = run_nothing;
    timed.progress = &uncounted;
    timed.iters = loop->iters;
    if (bench_barrier(loop->bench, err) || graph->begin(loop->bench->comm, err) ||
        loop->timing.back_to_back(&timed, &ns, err))
        return -1;
    return graph->end(loop->bench->comm, err);
}

/* Capture a block's calls as one graph, then time `replays` launches of it. */
static int time_graph(struct loop *loop, long replays, struct own_figures *own,
                      struct error *err)
{
    const struct backend_graph *graph = loop->bench->backend->graph;
    struct timed_calls calls = plain_calls(loop);
    struct timed_ns ns;

    if (!loop->has_graph && capture(loop, err))
        return -1;
    loop->has_graph = true;
    calls.run = graph->replay;
    loop->timed.operations = (uint64_t)loop->iters * (uint64_t)loop->timed.batch;
    loop->timed.batch = 1;
    set_calls(loop, calls, loop->row->row.row);
    loop->timed.iters = replays;
    int status = loop->timing.back_to_back(&loop->timed, &ns, err);
    loop->timed.batch = loop->bench->file->spec->agg_iters;
    loop->timed.operations = 1;
    if (status)
        return -1;
    keep_arrival(loop, &ns);
    own->enqueue_us = us_per_call(loop, ns.enqueue_ns, loop->iters * replays);
    own->mean_us = us_per_call(loop, ns.total_ns, loop->iters * replays);
    return 0;
}

/* While arrivals are recorded, two barriers precede each call. At the first, ranks wait
 * for the slowest rank of the previous call. That wait is too long to bound clock
 * offsets. At the second, all ranks arrive almost together. */
static int time_isolated(struct loop *loop, struct own_figures *own, struct error *err)
{
    const struct backend_laps *laps = laps_of(loop);
    struct backend_comm *comm = loop->bench->comm;
    double total_us = 0;
    int64_t enqueue_ns = 0;

    if (laps)
        set_laps(loop, laps);
    loop->timed.iters = 1;
    for (long i = 0; i < loop->iters; i++) {
        struct arrival arrival;
        struct timed_ns ns;
        double us;
        if ((laps && laps->begin(comm, 1, err)) ||
            (loop->arrivals.n < ARRIVALS_MAX && bench_barrier(loop->bench, err)) ||
            loop->timing.isolated(&loop->timed, &ns, &arrival, err))
            return -1;
        us = (double)ns.total_ns / 1e3;
        if (laps && laps->us(comm, 0, &us, err))
            return -1;
        arrivals_add(&loop->arrivals, arrival);
        add_sample(loop, us);
        total_us += us;
        enqueue_ns += ns.enqueue_ns;
    }
    own->mean_us =
        total_us / (double)loop->bench->file->spec->agg_iters / (double)loop->iters;
    own->enqueue_us = us_per_call(loop, enqueue_ns, loop->iters);
    return 0;
}

/* Replace *us by the maximum over all ranks. */
static int agree_on(const struct loop *loop, double *us, struct error *err)
{
    int n = loop->bench->file->world_size;
    double *all = memory_zeroed((size_t)n, sizeof(*all), "times");
    int status = bench_allgather(loop->bench, us, sizeof(*us), all, err);

    for (int i = 0; !status && i < n; i++)
        *us = all[i] > *us ? all[i] : *us;
    free(all);
    return status;
}

/* Return the first `most` arrivals of all ranks, by rank, in an array that the caller
 * frees. The limit matters with thousands of ranks, whose full records are megabytes. */
static struct arrivals *gather_arrivals(const struct loop *loop, struct arrivals own,
                                        int64_t most, struct error *err)
{
    size_t n = (size_t)loop->bench->file->world_size;

    own.n = own.n < most ? own.n : most;
    size_t bytes = arrivals_bytes(own.n);
    char *packed = memory_zeroed(n, bytes, "arrivals");
    struct arrivals *all = memory_zeroed(n, sizeof(*all), "arrivals");
    int status = bench_allgather(loop->bench, &own, bytes, packed, err);

    for (size_t i = 0; !status && i < n; i++)
        memcpy(&all[i], packed + i * bytes, bytes);
    free(packed);
    if (!status)
        return all;
    free(all);
    return NULL;
}

/* Repeat a barrier until its skew is small compared with the calls. A rank that sleeps in
 * a barrier leaves it late, which causes skew. */
static int settle(struct loop *loop, struct error *err)
{
    int n = loop->bench->file->world_size;
    double us = loop->submit_us * (double)loop->iters, skew_us = HUGE_VAL;

    if (loop->bench->backend->timing ||
        loop->bench->file->spec->timing == TIMING_ISOLATED)
        return 0;
    if (agree_on(loop, &us, err))
        return -1;
    for (int i = 0; i < SETTLE_MAX && skew_us > SETTLED_PART * us; i++) {
        struct arrivals own = {.clock = loop->arrivals.clock}, *all;
        struct arrival arrival = {.in_ns = clock_monotonic_ns()};

        if (bench_barrier(loop->bench, err))
            return -1;
        arrival.out_ns = arrival.came_ns = clock_monotonic_ns();
        arrivals_add(&own, arrival);
        all = gather_arrivals(loop, own, 1, err);
        if (!all)
            return -1;
        skew_us = arrivals_skew_us(all, n);
        free(all);
    }
    return 0;
}

static int time_block(struct loop *loop, struct error *err)
{
    struct own_figures *own = &loop->own;
    long replays = bench_replays(loop->bench);

    loop->timed_iters += loop->iters;
    if (loop->bench->file->spec->timing == TIMING_ISOLATED)
        return time_isolated(loop, own, err);
    return replays > 0 ? time_graph(loop, replays, own, err) : time_calls(loop, own, err);
}

static long timed_calls(const struct loop *loop)
{
    long replays = bench_replays(loop->bench);

    return loop->timed_iters * loop->bench->file->spec->agg_iters *
           (replays > 0 ? replays : 1);
}

/* ---- Blocks: repeat until the median is known ---- */

/* The most submissions per block. The number is small if each submission needs memory,
 * for a sample or in a graph. */
static long most_iters(const struct bench *bench)
{
    const struct run_spec *spec = bench->file->spec;

    return spec->timing == TIMING_ISOLATED              ? 1
           : spec->per_iter || bench_replays(bench) > 0 ? RUN_SPEC_ITERS_USUAL
                                                        : BLOCK_ITERS_MAX;
}

/* The number of submissions that fill a block if each takes `us`. */
static long iters_for(const struct loop *loop, double us)
{
    const struct run_spec *spec = loop->bench->file->spec;
    long replays = bench_replays(loop->bench), most = most_iters(loop->bench);
    double n = us > 0 ? run_spec_block_us(spec, us / (double)spec->agg_iters) / us
                      : (double)most;

    n = ceil(n / (double)(replays > 0 ? replays : 1) - ROUNDING);
    return n < 1 ? 1 : n > (double)most ? most : (long)n;
}

/* The number of submissions that fill a block if `now` of them took `us`, at most
 * GROWTH_MAX * now. */
static long grown(const struct loop *loop, long now, double us)
{
    long wanted = iters_for(loop, us / (double)now);

    return wanted < now * GROWTH_MAX ? wanted : now * GROWTH_MAX;
}

/* Find the submissions per block, from the warm-up and then from trial blocks.
 * Back-to-back calls take a different time than single calls, and a warm-up of one call
 * includes setup. */
static int size_block(struct loop *loop, struct error *err)
{
    const struct run_spec *spec = loop->bench->file->spec;
    double us = loop->submit_us;

    if (agree_on(loop, &us, err))
        return -1;
    loop->iters = grown(loop, 1, us);
    /* Calls longer than a block do not become faster back to back, so no trial is
     * needed. */
    bool is_known = us >= spec->block_ms * 1e3 && spec->warmup > 1;
    if (is_known || most_iters(loop->bench) == 1)
        return 0;
    for (int trial = 0; trial < TRIALS_MAX; trial++) {
        long before = loop->iters;
        struct own_figures own;

        if (time_calls(loop, &own, err))
            return -1;
        loop->n_samples = 0;
        us = own.mean_us * (double)spec->agg_iters * (double)before;
        if (agree_on(loop, &us, err))
            return -1;
        loop->iters = grown(loop, before, us);
        if (loop->iters < 2 * before)
            break;
    }
    return 0;
}

/* Adapt the block if the machine has become slower or faster. Otherwise a few blocks
 * could take minutes. */
static void resize_block(struct loop *loop, double call_us)
{
    const struct run_spec *spec = loop->bench->file->spec;
    double us = call_us * (double)spec->agg_iters * (double)loop->iters;
    long wanted = iters_for(loop, us / (double)loop->iters);

    if (!loop->has_graph && (wanted > loop->iters * 2 || wanted * 2 < loop->iters))
        loop->iters = grown(loop, loop->iters, us);
}

static int time_next_blocks(struct loop *loop, struct blocks *blocks, long n,
                            struct error *err)
{
    if (blocks->n == 0)
        loop->started_ns = now_ns(loop);
    for (long i = 0; i < n; i++) {
        if (time_block(loop, err))
            return -1;
        blocks_add(blocks, i, n, loop->own.mean_us, loop->own.enqueue_us);
    }
    blocks_tell(blocks, loop->row->is_idle,
                (double)(now_ns(loop) - loop->started_ns) / 1e9);
    return blocks_share(blocks, n, err);
}

static int time_blocks(struct loop *loop, struct blocks *blocks, struct error *err)
{
    long wanted;

    while ((wanted = blocks_wanted(blocks)) > blocks->n) {
        while (blocks->n < wanted && !blocks_are_late(blocks)) {
            long n = blocks->n > 0 ? blocks->n : 1, left = wanted - blocks->n;

            n = n < BLOCKS_AT_ONCE ? n : BLOCKS_AT_ONCE;
            if (time_next_blocks(loop, blocks, n < left ? n : left, err))
                return -1;
            resize_block(loop, blocks_latest_us(blocks));
        }
    }
    return 0;
}

/* out[group].samples_us: the slowest rank's time of each iteration. */
static int combine_samples(const struct loop *loop, struct measurement *out,
                           struct error *err)
{
    const struct split_groups *groups = &loop->bench->file->groups;
    long iters = loop->n_samples;
    size_t n = (size_t)loop->bench->file->world_size;
    double *all = memory_zeroed(n * SAMPLES_AT_ONCE, sizeof(*all), "samples");
    int status = 0;

    for (long done = 0; !status && done < iters; done += SAMPLES_AT_ONCE) {
        long part = iters - done < SAMPLES_AT_ONCE ? iters - done : SAMPLES_AT_ONCE;
        status = bench_allgather(loop->bench, loop->samples + done,
                                 (size_t)part * sizeof(*all), all, err);
        for (long i = 0; !status && i < part; i++) {
            for (size_t rank = 0; rank < n; rank++) {
                double us = all[rank * (size_t)part + (size_t)i];
                double *most = &out[groups->of[rank]].samples_us[done + i];
                *most = us > *most ? us : *most;
            }
        }
    }
    free(all);
    for (int i = 0; i < groups->n; i++)
        out[i].n_samples = iters;
    return status;
}

/* Call on rank 0 only. Lateness is known only for `isolated` rows with one group. */
static void find_late(const struct loop *loop, const struct arrivals *all,
                      struct measurement *out)
{
    int n = loop->bench->file->world_size, n_groups = loop->bench->file->groups.n;

    for (int i = 0; i < n_groups && !loop->bench->backend->timing; i++)
        out[i].skew_us = arrivals_skew_us(all, n);
    if (loop->bench->file->spec->timing != TIMING_ISOLATED || n_groups > 1)
        return;
    out->late_us = memory_zeroed((size_t)n, sizeof(*out->late_us), "arrivals");
    arrivals_late_us(all, n, out->late_us, &out->late_error_us);
}

static int combine_arrivals(const struct loop *loop, struct measurement *out,
                            struct error *err)
{
    bool is_isolated = loop->bench->file->spec->timing == TIMING_ISOLATED;
    int64_t share =
        SKEW_BYTES / loop->bench->file->world_size / (int64_t)sizeof(struct arrival);
    int64_t most = is_isolated ? ARRIVALS_MAX : share;

    if (loop->bench->backend->timing && !is_isolated)
        return 0; /* a model's barriers have no skew */
    struct arrivals *all =
        gather_arrivals(loop, loop->arrivals, most > 1 ? most : 1, err);
    if (all && loop->bench->rank == 0)
        find_late(loop, all, out);
    free(all);
    return all ? 0 : -1;
}

static void add_figures(struct measurement *out, const struct own_figures *one, int place,
                        int n)
{
    double us = one->mean_us;

    out->times_us[place] = us;
    out->mean_us += us / n;
    out->enqueue_us += one->enqueue_us / n;
    out->min_us = place == 0 || us < out->min_us ? us : out->min_us;
    out->max_us = us > out->max_us ? us : out->max_us;
    out->first_us = one->first_us > out->first_us ? one->first_us : out->first_us;
    choice_add(&out->choice, &one->choice);
}

static int combine_figures(const struct loop *loop, struct measurement *out,
                           struct error *err)
{
    const struct split_groups *groups = &loop->bench->file->groups;
    int n = loop->bench->file->world_size;
    struct own_figures *all = memory_zeroed((size_t)n, sizeof(*all), "figures");
    int status = bench_allgather(loop->bench, &loop->own, sizeof(*all), all, err);

    for (int i = 0; !status && i < n; i++) {
        int group = groups->of[i];
        add_figures(&out[group], &all[i], groups->place[i], groups->sizes[group]);
    }
    free(all);
    return status;
}

static void prepare(struct loop *loop, struct measurement *out)
{
    const struct run_spec *spec = loop->bench->file->spec;
    const struct split_groups *groups = &loop->bench->file->groups;
    long iters = spec->iters ? spec->iters : most_iters(loop->bench);
    size_t samples = (size_t)iters * (size_t)(spec->iters ? 1 : spec->samples.max);
    bool is_sampled = spec->timing == TIMING_ISOLATED || spec->per_iter;

    loop->iters = iters;
    arrivals_init(&loop->arrivals);
    if (is_sampled)
        loop->samples = memory_zeroed(samples, sizeof(*loop->samples), "samples");
    if (spec->per_iter && !laps_of(loop))
        loop->each_ns = memory_zeroed((size_t)iters, sizeof(*loop->each_ns), "samples");
    for (int i = 0; i < groups->n; i++) {
        size_t n = (size_t)groups->sizes[i];

        out[i] = (struct measurement){
            .times_us = memory_zeroed(n, sizeof(*out->times_us), "times"), .skew_us = -1};
        if (is_sampled)
            out[i].samples_us =
                memory_zeroed(samples, sizeof(*out->samples_us), "samples");
    }
}

static int measure_blocks(struct loop *loop, struct measurement *out, struct error *err)
{
    struct blocks blocks;

    blocks_init(&blocks, loop->bench);
    int status = size_block(loop, err);
    if (!status)
        status = time_blocks(loop, &blocks, err);
    if (!status)
        blocks_figures(&blocks, out);
    blocks_release(&blocks);
    return status;
}

static void init(struct loop *loop, struct bench *bench, const struct bench_row *row)
{
    const struct backend *backend = bench->backend;

    *loop = (struct loop){.bench = bench, .row = row};
    loop->timing = backend->timing ? *backend->timing : host_timing;
    loop->timed = (struct timed){.comm = bench->comm,
                                 .call = row->call,
                                 .send = row->call.send,
                                 .recv = row->call.recv,
                                 .places = row->offsets,
                                 .place_bytes = row->layout.size_bytes,
                                 .batch = bench->file->spec->agg_iters,
                                 .operations = 1,
                                 .blocking = BLOCKING_WAIT,
                                 .is_async = backend->is_async,
                                 .progress = bench->progress,
                                 .stop = bench->stop};
    set_calls(loop, plain_calls(loop), FAULT_NO_ROW);
}

static int measure(struct loop *loop, struct measurement *out, struct error *err)
{
    struct bench *bench = loop->bench;
    const struct run_spec *spec = bench->file->spec;
    bool is_counted = spec->iters > 0;

    prepare(loop, out);
    if (warm_up(loop, err) ||
        (is_counted && (settle(loop, err) || time_block(loop, err))) ||
        combine_figures(loop, out, err) ||
        (!is_counted && measure_blocks(loop, out, err)))
        return -1;
    for (int i = 0; i < bench->file->groups.n; i++)
        out[i].iters = timed_calls(loop);
    if (combine_arrivals(loop, out, err))
        return -1;
    if (loop->has_graph)
        bench->backend->graph->drop(bench->comm);
    return loop->samples ? combine_samples(loop, out, err) : 0;
}

int measure_row(struct bench *bench, const struct bench_row *row, struct measurement *out,
                struct error *err)
{
    struct loop loop;

    init(&loop, bench, row);
    int status = measure(&loop, out, err);
    free(loop.samples);
    free(loop.each_ns);
    return status;
}

void measurement_release(struct measurement *measurement)
{
    free(measurement->times_us);
    free(measurement->samples_us);
    free(measurement->late_us);
    free(measurement->blocks_us);
    memset(measurement, 0, sizeof(*measurement));
}
