/* measure.c - the timed part of a row */
#include "agent/worker/measure.h"

#include <stdlib.h>
#include <string.h>

#include "agent/worker/fault.h"
#include "common/clock.h"

#define SAMPLES_AT_ONCE 1024

/* What this rank measured, as it is exchanged. */
struct own_figures {
    double first_us, mean_us;
};

struct loop {
    struct bench *bench;
    const struct bench_row *row;
    struct backend_call call;
    size_t turn; /* of the rotation */
    enum fault_kind fault;
    double *samples; /* isolated: own */
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
    long agg_iters = loop->bench->file->agg_iters;

    if (loop->fault != FAULT_NONE && fault_act(loop->bench, loop->fault, err)) {
        return -1;
    }
    if (agg_iters > 1 && backend->group_begin && backend->group_begin(comm, err)) {
        return -1;
    }
    for (long i = 0; i < agg_iters; i++) {
        progress_begin(loop->bench->progress);
        rotate(loop);
        if (backend->run(comm, &loop->call, err)) {
            return -1;
        }
    }
    if (agg_iters > 1 && backend->group_end && backend->group_end(comm, err)) {
        return -1;
    }
    if (!backend->is_async) {
        progress_finish(loop->bench->progress);
    }
    return 0;
}

static int wait_for_all(struct loop *loop, struct error *err)
{
    if (loop->bench->backend->wait(loop->bench->comm, err)) {
        return -1;
    }
    progress_finish(loop->bench->progress);
    return 0;
}

static int submit_and_wait(struct loop *loop, struct error *err)
{
    return submit(loop, err) || wait_for_all(loop, err) ? -1 : 0;
}

static int warm_up(struct loop *loop, double *first_us, struct error *err)
{
    long calls = loop->bench->file->warmup > 1 ? loop->bench->file->warmup : 1;

    if (bench_barrier(loop->bench, err)) {
        return -1;
    }
    int64_t start = now_ns(loop);
    for (long i = 0; i < calls; i++) {
        if (submit_and_wait(loop, err)) {
            return -1;
        }
        if (i == 0) {
            *first_us = (double)(now_ns(loop) - start) / 1e3 /
                        (double)loop->bench->file->agg_iters;
        }
        if (bench_stopped(loop->bench, err)) {
            return -1;
        }
    }
    return 0;
}

static int time_throughput(struct loop *loop, double *mean_us, struct error *err)
{
    const struct case_file *file = loop->bench->file;
    double calls = (double)file->iters * (double)file->agg_iters;

    if (bench_barrier(loop->bench, err)) {
        return -1;
    }
    int64_t start = now_ns(loop);
    for (long i = 0; i < file->iters; i++) {
        if (submit(loop, err) || bench_stopped(loop->bench, err)) {
            return -1;
        }
    }
    if (wait_for_all(loop, err)) {
        return -1;
    }
    *mean_us = (double)(now_ns(loop) - start) / 1e3 / calls;
    return 0;
}

static int time_isolated(struct loop *loop, double *mean_us, struct error *err)
{
    const struct backend *backend = loop->bench->backend;
    struct backend_comm *comm = loop->bench->comm;
    const struct case_file *file = loop->bench->file;
    double total = 0;

    for (long i = 0; i < file->iters; i++) {
        double us;
        if (bench_stopped(loop->bench, err) || bench_barrier(loop->bench, err) ||
            backend->timer_start(comm, err) || submit(loop, err) ||
            backend->timer_stop(comm, &us, err)) {
            return -1;
        }
        progress_finish(loop->bench->progress);
        loop->samples[i] = us / (double)file->agg_iters;
        total += loop->samples[i];
    }
    *mean_us = total / (double)file->iters;
    return 0;
}

/* Slowest rank of each iteration. */
static int combine_samples(struct loop *loop, struct measurement *out, struct error *err)
{
    long iters = loop->bench->file->iters;
    size_t n = (size_t)loop->bench->file->world_size;
    double *all = calloc(n * SAMPLES_AT_ONCE, sizeof(*all));
    int status = all ? 0 : error_set(err, ERROR_MEMORY, "samples: out of memory");

    for (long done = 0; !status && done < iters; done += SAMPLES_AT_ONCE) {
        long part = iters - done < SAMPLES_AT_ONCE ? iters - done : SAMPLES_AT_ONCE;
        status = bench_allgather(loop->bench, loop->samples + done,
                                 (size_t)part * sizeof(*all), all, err);
        for (long i = 0; !status && i < part; i++) {
            double most = 0;
            for (size_t rank = 0; rank < n; rank++) {
                double us = all[rank * (size_t)part + (size_t)i];
                most = us > most ? us : most;
            }
            out->samples_us[done + i] = most;
        }
    }
    free(all);
    out->n_samples = iters;
    return status;
}

static int combine_figures(struct loop *loop, const struct own_figures *own,
                           struct measurement *out, struct error *err)
{
    int n = loop->bench->file->world_size;
    struct own_figures *all = calloc((size_t)n, sizeof(*all));

    if (!all) {
        return error_set(err, ERROR_MEMORY, "figures: out of memory");
    }
    if (bench_allgather(loop->bench, own, sizeof(*own), all, err)) {
        free(all);
        return -1;
    }
    out->min_us = out->max_us = all[0].mean_us;
    for (int i = 0; i < n; i++) {
        double us = all[i].mean_us;
        out->times_us[i] = us;
        out->mean_us += us / n;
        out->min_us = us < out->min_us ? us : out->min_us;
        out->max_us = us > out->max_us ? us : out->max_us;
        out->first_us = all[i].first_us > out->first_us ? all[i].first_us : out->first_us;
    }
    free(all);
    return 0;
}

static int prepare(struct loop *loop, struct measurement *out, struct error *err)
{
    const struct case_file *file = loop->bench->file;
    size_t iters = (size_t)file->iters;

    memset(out, 0, sizeof(*out));
    out->iters = file->iters * file->agg_iters;
    out->times_us = calloc((size_t)file->world_size, sizeof(*out->times_us));
    if (file->timing == TIMING_ISOLATED) {
        out->samples_us = calloc(iters, sizeof(*out->samples_us));
        loop->samples = calloc(iters, sizeof(*loop->samples));
    }
    if (!out->times_us ||
        (file->timing == TIMING_ISOLATED && (!out->samples_us || !loop->samples))) {
        return error_set(err, ERROR_MEMORY, "samples: out of memory");
    }
    return 0;
}

int measure_row(struct bench *bench, const struct bench_row *row, struct measurement *out,
                struct error *err)
{
    struct loop loop = {.bench = bench, .row = row, .call = row->call};
    bool is_isolated = bench->file->timing == TIMING_ISOLATED;
    struct own_figures own = {0};

    int status = prepare(&loop, out, err);
    if (!status) {
        loop.fault =
            fault_at(bench, row->row.row) == FAULT_SLOW ? FAULT_SLOW : FAULT_NONE;
        status = warm_up(&loop, &own.first_us, err);
        loop.fault = fault_at(bench, row->row.row);
    }
    if (!status) {
        status = is_isolated ? time_isolated(&loop, &own.mean_us, err)
                             : time_throughput(&loop, &own.mean_us, err);
    }
    if (!status) {
        status = combine_figures(&loop, &own, out, err);
    }
    if (!status && is_isolated) {
        status = combine_samples(&loop, out, err);
    }
    free(loop.samples);
    return status;
}

void measurement_release(struct measurement *measurement)
{
    free(measurement->times_us);
    free(measurement->samples_us);
    memset(measurement, 0, sizeof(*measurement));
}
