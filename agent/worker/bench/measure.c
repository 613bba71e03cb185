/* measure.c - the timed part of a row */
#include "agent/worker/bench/measure.h"

#include <stdlib.h>
#include <string.h>

#include "agent/worker/bench/fault.h"
#include "common/base/clock.h"

#define SAMPLES_AT_ONCE 1024

/* What this rank measured, as it is exchanged. */
struct own_figures {
    double first_us, mean_us, enqueue_us;
};

struct loop {
    struct bench *bench;
    const struct bench_row *row;
    struct backend_call call;
    size_t turn; /* of the rotation */
    enum fault_kind fault;
    double *samples; /* of each iteration, own; NULL: not asked for */
    int64_t *laps;   /* where the backend has none; one more than samples */
    bool is_capturing;
};

static int64_t now_ns(const struct loop *loop)
{
    const struct backend *backend = loop->bench->backend;

    return backend->clock_ns ? backend->clock_ns(loop->bench->comm)
                             : clock_monotonic_ns();
}

static void rotate(struct loop *loop)
{
    size_t shift = loop->turn * loop->row->layout.size_bytes;

    loop->call.send = (const char *)loop->row->call.send + shift;
    loop->call.recv = (char *)loop->row->call.recv + shift;
    loop->turn = loop->turn + 1 == loop->row->offsets ? 0 : loop->turn + 1;
}

/* agg_iters calls, submitted as one where the backend can. */
static int submit(struct loop *loop, struct error *err)
{
    const struct backend *backend = loop->bench->backend;
    struct backend_comm *comm = loop->bench->comm;
    long agg_iters = loop->bench->file->spec->agg_iters;
    const struct backend_batch *batch = agg_iters > 1 ? backend->batch : NULL;

    if (loop->row->is_idle)
        return 0;
    if (loop->fault != FAULT_NONE && !loop->is_capturing &&
        fault_act(loop->bench, loop->fault, err))
        return -1;
    if (batch && batch->begin(comm, err))
        return -1;
    for (long i = 0; i < agg_iters; i++) {
        if (!loop->is_capturing)
            progress_begin(loop->bench->progress);
        rotate(loop);
        if (backend->run(comm, &loop->call, err))
            return -1;
    }
    if (batch && batch->end(comm, err))
        return -1;
    if (!backend->is_async)
        progress_finish(loop->bench->progress);
    return 0;
}

static int wait_for_all(struct loop *loop, struct error *err)
{
    if (loop->bench->backend->wait(loop->bench->comm, err))
        return -1;
    progress_finish(loop->bench->progress);
    return 0;
}

static int submit_and_wait(struct loop *loop, struct error *err)
{
    return submit(loop, err) || wait_for_all(loop, err) ? -1 : 0;
}

static int warm_up(struct loop *loop, double *first_us, struct error *err)
{
    long calls =
        loop->bench->file->spec->warmup > 1 ? loop->bench->file->spec->warmup : 1;

    if (bench_barrier(loop->bench, err))
        return -1;
    int64_t start = now_ns(loop);
    for (long i = 0; i < calls; i++) {
        if (submit_and_wait(loop, err))
            return -1;
        if (i == 0) {
            *first_us = (double)(now_ns(loop) - start) / 1e3 /
                        (double)loop->bench->file->spec->agg_iters;
        }
        if (bench_stopped(loop->bench, err))
            return -1;
    }
    return 0;
}

static double per_call_us(const struct loop *loop, int64_t ns)
{
    const struct run_spec *spec = loop->bench->file->spec;

    return (double)ns / 1e3 / ((double)spec->iters * (double)spec->agg_iters);
}

static int begin_laps(struct loop *loop, struct error *err)
{
    const struct bench *bench = loop->bench;
    const struct backend_laps *laps = bench->backend->laps;

    return bench->file->spec->per_iter && laps
               ? laps->begin(bench->comm, bench->file->spec->iters, err)
               : 0;
}

/* per_iter: here iteration i begins, and the one before has ended. */
static int lap(struct loop *loop, long i, struct error *err)
{
    const struct backend *backend = loop->bench->backend;

    if (loop->laps) {
        loop->laps[i] = now_ns(loop);
        return 0;
    }
    return loop->bench->file->spec->per_iter
               ? backend->laps->mark(loop->bench->comm, i, err)
               : 0;
}

/* After the wait: what lies between the laps. */
static int take_laps(struct loop *loop, struct error *err)
{
    const struct run_spec *spec = loop->bench->file->spec;
    const struct backend *backend = loop->bench->backend;

    for (long i = 0; spec->per_iter && i < spec->iters; i++) {
        double us;
        if (loop->laps)
            us = (double)(loop->laps[i + 1] - loop->laps[i]) / 1e3;
        else if (backend->laps->us(loop->bench->comm, i, &us, err))
            return -1;
        loop->samples[i] = us / (double)spec->agg_iters;
    }
    return 0;
}

static int submit_all(struct loop *loop, struct error *err)
{
    for (long i = 0; i < loop->bench->file->spec->iters; i++)
        if (submit(loop, err) || lap(loop, i + 1, err) || bench_stopped(loop->bench, err))
            return -1;
    return 0;
}

static int time_back_to_back(struct loop *loop, struct own_figures *own,
                             struct error *err)
{
    if (begin_laps(loop, err) || bench_barrier(loop->bench, err))
        return -1;
    int64_t start = now_ns(loop);
    if (lap(loop, 0, err) || submit_all(loop, err))
        return -1;
    own->enqueue_us = per_call_us(loop, now_ns(loop) - start);
    if (wait_for_all(loop, err))
        return -1;
    own->mean_us = per_call_us(loop, now_ns(loop) - start);
    return take_laps(loop, err);
}

/* A wait after each submission, and perhaps a barrier, within the time or outside. */
static int time_blocking(struct loop *loop, struct own_figures *own, struct error *err)
{
    const struct run_spec *spec = loop->bench->file->spec;
    int64_t enqueue = 0, total = 0;

    if (bench_barrier(loop->bench, err))
        return -1;
    for (long i = 0; i < spec->iters; i++) {
        int64_t start = now_ns(loop);
        if (submit(loop, err))
            return -1;
        enqueue += now_ns(loop) - start;
        if (wait_for_all(loop, err) || bench_stopped(loop->bench, err) ||
            (spec->blocking == BLOCKING_WAIT_BARRIER && bench_barrier(loop->bench, err)))
            return -1;
        int64_t took = now_ns(loop) - start;
        total += took;
        if (loop->samples)
            loop->samples[i] = (double)took / 1e3 / (double)spec->agg_iters;
        if (spec->blocking == BLOCKING_EACH_ITERATION && bench_barrier(loop->bench, err))
            return -1;
    }
    own->enqueue_us = per_call_us(loop, enqueue);
    own->mean_us = per_call_us(loop, total);
    return 0;
}

static int capture(struct loop *loop, struct error *err)
{
    const struct backend_graph *graph = loop->bench->backend->graph;
    struct backend_comm *comm = loop->bench->comm;

    if (graph->begin(comm, err))
        return -1;
    loop->is_capturing = true;
    int status = submit_all(loop, err);
    loop->is_capturing = false;
    return status || graph->end(comm, err) ? -1 : 0;
}

static int replay(struct loop *loop, struct error *err)
{
    struct bench *bench = loop->bench;
    uint64_t calls =
        (uint64_t)bench->file->spec->iters * (uint64_t)bench->file->spec->agg_iters;

    if (bench_stopped(bench, err) ||
        (loop->fault != FAULT_NONE && fault_act(loop->bench, loop->fault, err)))
        return -1;
    progress_begin_many(bench->progress, calls);
    return bench->backend->graph->replay(bench->comm, err);
}

/* All calls as one graph, which is launched again and again. */
static int time_graph(struct loop *loop, long replays, struct own_figures *own,
                      struct error *err)
{
    struct bench *bench = loop->bench;

    if (bench_barrier(bench, err) || capture(loop, err) || bench_barrier(bench, err))
        return -1;
    int64_t start = now_ns(loop);
    for (long i = 0; i < replays; i++)
        if (replay(loop, err))
            return -1;
    own->enqueue_us = per_call_us(loop, now_ns(loop) - start) / (double)replays;
    if (wait_for_all(loop, err))
        return -1;
    own->mean_us = per_call_us(loop, now_ns(loop) - start) / (double)replays;
    bench->backend->graph->drop(bench->comm);
    return 0;
}

static int time_throughput(struct loop *loop, struct own_figures *own, struct error *err)
{
    long replays = bench_replays(loop->bench);

    if (replays > 0)
        return time_graph(loop, replays, own, err);
    return loop->bench->file->spec->blocking == BLOCKING_NONE
               ? time_back_to_back(loop, own, err)
               : time_blocking(loop, own, err);
}

static int time_isolated(struct loop *loop, struct own_figures *own, struct error *err)
{
    const struct backend *backend = loop->bench->backend;
    struct backend_comm *comm = loop->bench->comm;
    const struct run_spec *spec = loop->bench->file->spec;
    double total = 0;
    int64_t enqueue = 0;

    for (long i = 0; i < spec->iters; i++) {
        double us;
        if (bench_stopped(loop->bench, err) || bench_barrier(loop->bench, err) ||
            backend->timer_start(comm, err))
            return -1;
        int64_t start = now_ns(loop);
        if (submit(loop, err))
            return -1;
        enqueue += now_ns(loop) - start;
        if (backend->timer_stop(comm, &us, err))
            return -1;
        progress_finish(loop->bench->progress);
        loop->samples[i] = us / (double)spec->agg_iters;
        total += loop->samples[i];
    }
    own->mean_us = total / (double)spec->iters;
    own->enqueue_us = per_call_us(loop, enqueue);
    return 0;
}

/* Slowest rank of each group in each iteration. */
static int combine_samples(struct loop *loop, struct measurement *out, struct error *err)
{
    const struct split_groups *groups = &loop->bench->file->groups;
    long iters = loop->bench->file->spec->iters;
    size_t n = (size_t)loop->bench->file->world_size;
    double *all = calloc(n * SAMPLES_AT_ONCE, sizeof(*all));
    int status = all ? 0 : error_set(err, ERROR_MEMORY, "samples: out of memory");

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

/* What one more rank, number `place` of n, measured. */
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
}

static int combine_figures(struct loop *loop, const struct own_figures *own,
                           struct measurement *out, struct error *err)
{
    const struct split_groups *groups = &loop->bench->file->groups;
    int n = loop->bench->file->world_size;
    struct own_figures *all = calloc((size_t)n, sizeof(*all));

    if (!all)
        return error_set(err, ERROR_MEMORY, "figures: out of memory");
    if (bench_allgather(loop->bench, own, sizeof(*own), all, err)) {
        free(all);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        int group = groups->of[i];
        add_figures(&out[group], &all[i], groups->place[i], groups->sizes[group]);
    }
    free(all);
    return 0;
}

static int prepare(struct loop *loop, struct measurement *out, struct error *err)
{
    const struct case_file *file = loop->bench->file;
    bool has_samples = file->spec->timing == TIMING_ISOLATED || file->spec->per_iter;
    size_t iters = (size_t)file->spec->iters;
    bool is_whole = true;
    long replays = bench_replays(loop->bench);

    if (has_samples) {
        loop->samples = calloc(iters, sizeof(*loop->samples));
        is_whole = loop->samples != NULL;
    }
    if (file->spec->per_iter && !loop->bench->backend->laps) {
        loop->laps = calloc(iters + 1, sizeof(*loop->laps));
        is_whole = is_whole && loop->laps;
    }
    for (int i = 0; i < file->groups.n; i++) {
        size_t n = (size_t)file->groups.sizes[i];
        memset(&out[i], 0, sizeof(out[i]));
        out[i].iters =
            file->spec->iters * file->spec->agg_iters * (replays > 0 ? replays : 1);
        out[i].times_us = calloc(n, sizeof(*out->times_us));
        if (has_samples)
            out[i].samples_us = calloc(iters, sizeof(*out->samples_us));
        is_whole = is_whole && out[i].times_us && (!has_samples || out[i].samples_us);
    }
    return is_whole ? 0 : error_set(err, ERROR_MEMORY, "samples: out of memory");
}

int measure_row(struct bench *bench, const struct bench_row *row, struct measurement *out,
                struct error *err)
{
    struct loop loop = {.bench = bench, .row = row, .call = row->call};
    bool is_isolated = bench->file->spec->timing == TIMING_ISOLATED;
    struct own_figures own = {0};

    int status = prepare(&loop, out, err);
    if (!status) {
        loop.fault =
            fault_at(bench, row->row.row) == FAULT_SLOW ? FAULT_SLOW : FAULT_NONE;
        status = warm_up(&loop, &own.first_us, err);
        loop.fault = fault_at(bench, row->row.row);
    }
    if (!status) {
        status = is_isolated ? time_isolated(&loop, &own, err)
                             : time_throughput(&loop, &own, err);
    }
    if (!status)
        status = combine_figures(&loop, &own, out, err);
    if (!status && loop.samples)
        status = combine_samples(&loop, out, err);
    free(loop.samples);
    free(loop.laps);
    return status;
}

void measurement_release(struct measurement *measurement)
{
    free(measurement->times_us);
    free(measurement->samples_us);
    memset(measurement, 0, sizeof(*measurement));
}
