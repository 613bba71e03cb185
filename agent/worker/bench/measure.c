/* measure.c - the timed part of a row */
#include "agent/worker/bench/measure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/bench/arrival.h"
#include "agent/worker/bench/blocks.h"
#include "agent/worker/bench/fault.h"
#include "agent/worker/bench/port_traffic.h"
#include "common/base/clock.h"

#define SAMPLES_AT_ONCE 1024
#define BLOCK_ITERS_MAX 1000000
#define TRIALS_MAX 6
#define GROWTH_MAX 20 /* of a block at once: it may not stay as fast */
#define ROUNDING 1e-6

/* What this rank measured, as it is exchanged. */
struct own_figures {
    double first_us, mean_us, enqueue_us;
    struct choice choice;
};

struct loop {
    struct bench *bench;
    const struct bench_row *row;
    struct backend_call call;
    size_t turn; /* of the rotation */
    enum fault_kind fault;
    long iters;       /* submissions that are timed as one block */
    double submit_us; /* of one in the warm-up, the shortest */
    double *samples;  /* of each iteration, own; NULL: not asked for */
    long n_samples;
    struct arrivals arrivals; /* `isolated` */
    int64_t *laps;            /* where the backend has none; one more than iters */
    bool is_capturing, has_graph;
    int64_t started_ns; /* the first block */
    long timed;         /* submissions behind the figures */
    struct own_figures own;
    double told_us; /* what it tells the others: see agree_on */
};

/* The ranks of this process at a row, mostly the one. All decide alike, so what is known
 * of one's loop in the end holds for the others'. */
struct crew {
    struct bench *bench;
    const struct bench_row *rows; /* see bench_row_of */
    struct loop *loops;           /* of each */
    int n;
    struct blocks *blocks; /* of a row that is timed in blocks */
    long n_blocks;         /* to be added next */
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

static int misbehave(struct loop *loop, struct error *err)
{
    return loop->fault != FAULT_NONE && !loop->row->is_idle && !loop->is_capturing
               ? fault_act(loop->bench, loop->fault, err)
               : 0;
}

/* agg_iters calls, submitted as one where the backend can. */
static int call_all(struct loop *loop, struct error *err)
{
    const struct backend *backend = loop->bench->backend;
    struct backend_comm *comm = loop->bench->comm;
    long agg_iters = loop->bench->file->spec->agg_iters;
    const struct backend_batch *batch = agg_iters > 1 ? backend->batch : NULL;

    if (loop->row->is_idle)
        return 0;
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

static int submit(struct loop *loop, struct error *err)
{
    return misbehave(loop, err) || call_all(loop, err) ? -1 : 0;
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

/* The first in the warm-up, of which the library is asked how it does it. */
static int call_first(struct loop *loop, struct error *err)
{
    const struct backend *backend = loop->bench->backend;
    bool is_watched = !loop->row->is_idle && loop->call.count > 0;

    if (is_watched && backend->watch)
        backend->watch(loop->bench->comm);
    int64_t start = now_ns(loop);
    if (submit_and_wait(loop, err))
        return -1;
    loop->submit_us = (double)(now_ns(loop) - start) / 1e3;
    if (is_watched && backend->choice)
        backend->choice(loop->bench->comm, &loop->call, &loop->own.choice);
    return 0;
}

static int warm_up(void *arg, int here, struct error *err)
{
    struct loop *loop = &((struct crew *)arg)->loops[here];
    const struct run_spec *spec = loop->bench->file->spec;

    if (bench_barrier(loop->bench, err) || call_first(loop, err) ||
        bench_stopped(loop->bench, err))
        return -1;
    loop->own.first_us = loop->submit_us / (double)spec->agg_iters;
    for (long i = 1; i < spec->warmup; i++) {
        int64_t start = now_ns(loop);
        if (submit_and_wait(loop, err))
            return -1;
        double us = (double)(now_ns(loop) - start) / 1e3;
        loop->submit_us = us < loop->submit_us ? us : loop->submit_us;
        if (bench_stopped(loop->bench, err))
            return -1;
    }
    loop->fault = fault_at(loop->bench, loop->row->row.row);
    return 0;
}

static double per_call_us(const struct loop *loop, int64_t ns)
{
    const struct run_spec *spec = loop->bench->file->spec;

    return (double)ns / 1e3 / ((double)loop->iters * (double)spec->agg_iters);
}

static int begin_laps(struct loop *loop, struct error *err)
{
    const struct bench *bench = loop->bench;
    const struct backend_laps *laps = bench->backend->laps;

    return bench->file->spec->per_iter && laps
               ? laps->begin(bench->comm, loop->iters, err)
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

    for (long i = 0; spec->per_iter && i < loop->iters; i++) {
        double us;
        if (loop->laps)
            us = (double)(loop->laps[i + 1] - loop->laps[i]) / 1e3;
        else if (backend->laps->us(loop->bench->comm, i, &us, err))
            return -1;
        loop->samples[loop->n_samples++] = us / (double)spec->agg_iters;
    }
    return 0;
}

static int submit_all(struct loop *loop, struct error *err)
{
    for (long i = 0; i < loop->iters; i++)
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
    for (long i = 0; i < loop->iters; i++) {
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
            loop->samples[loop->n_samples++] =
                (double)took / 1e3 / (double)spec->agg_iters;
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
    uint64_t calls = (uint64_t)loop->iters * (uint64_t)bench->file->spec->agg_iters;

    if (bench_stopped(bench, err) || misbehave(loop, err))
        return -1;
    progress_begin_many(bench->progress, calls);
    return bench->backend->graph->replay(bench->comm, err);
}

/* All calls of a block as one graph, which is launched again and again. */
static int time_graph(struct loop *loop, long replays, struct own_figures *own,
                      struct error *err)
{
    struct bench *bench = loop->bench;

    if (!loop->has_graph && (bench_barrier(bench, err) || capture(loop, err)))
        return -1;
    loop->has_graph = true;
    if (bench_barrier(bench, err))
        return -1;
    int64_t start = now_ns(loop);
    for (long i = 0; i < replays; i++)
        if (replay(loop, err))
            return -1;
    own->enqueue_us = per_call_us(loop, now_ns(loop) - start) / (double)replays;
    if (wait_for_all(loop, err))
        return -1;
    own->mean_us = per_call_us(loop, now_ns(loop) - start) / (double)replays;
    return 0;
}

static int time_calls(struct loop *loop, struct own_figures *own, struct error *err)
{
    return loop->bench->file->spec->blocking == BLOCKING_NONE
               ? time_back_to_back(loop, own, err)
               : time_blocking(loop, own, err);
}

/* A simulation's ranks leave a barrier at one time, which their clocks don't tell. */
static void keep_arrival(struct loop *loop, struct arrival arrival)
{
    if (loop->bench->backend->is_simulated)
        arrival = (struct arrival){.came_ns = arrival.came_ns - arrival.out_ns};
    arrivals_add(&loop->arrivals, arrival);
}

/* Until all are here, two times: at the first they wait for who takes longest with the
 * call before it, too long for that to tell their clocks apart; to the second they come
 * at once. */
static int gather(struct loop *loop, struct arrival *arrival, struct error *err)
{
    if (loop->arrivals.n < ARRIVALS_MAX && bench_barrier(loop->bench, err))
        return -1;
    arrival->in_ns = now_ns(loop);
    if (bench_barrier(loop->bench, err))
        return -1;
    arrival->out_ns = now_ns(loop);
    return 0;
}

static int time_isolated(struct loop *loop, struct own_figures *own, struct error *err)
{
    const struct backend *backend = loop->bench->backend;
    struct backend_comm *comm = loop->bench->comm;
    const struct run_spec *spec = loop->bench->file->spec;
    double total = 0;
    int64_t enqueue = 0;

    assert(loop->samples);
    for (long i = 0; i < loop->iters; i++) {
        struct arrival arrival;
        double us;
        if (bench_stopped(loop->bench, err) || gather(loop, &arrival, err) ||
            misbehave(loop, err) || backend->timer_start(comm, err))
            return -1;
        arrival.came_ns = now_ns(loop);
        if (call_all(loop, err))
            return -1;
        enqueue += now_ns(loop) - arrival.came_ns;
        if (backend->timer_stop(comm, &us, err))
            return -1;
        keep_arrival(loop, arrival);
        progress_finish(loop->bench->progress);
        us /= (double)spec->agg_iters;
        loop->samples[loop->n_samples++] = us;
        total += us;
    }
    own->mean_us = total / (double)loop->iters;
    own->enqueue_us = per_call_us(loop, enqueue);
    return 0;
}

/* loop->iters submissions, timed as a row's way of timing has it. */
static int time_block(struct loop *loop, struct error *err)
{
    struct own_figures *own = &loop->own;
    long replays = bench_replays(loop->bench);

    loop->timed += loop->iters;
    if (loop->bench->file->spec->timing == TIMING_ISOLATED)
        return time_isolated(loop, own, err);
    return replays > 0 ? time_graph(loop, replays, own, err) : time_calls(loop, own, err);
}

static int time_one(void *arg, int here, struct error *err)
{
    return time_block(&((struct crew *)arg)->loops[here], err);
}

/* The timed calls behind the figures. */
static long timed_calls(const struct loop *loop)
{
    long replays = bench_replays(loop->bench);

    return loop->timed * loop->bench->file->spec->agg_iters * (replays > 0 ? replays : 1);
}

/* What is timed is `work`; around it the ports' bytes are read. */
static int count_traffic(struct crew *crew, int (*work)(struct crew *, struct error *),
                         struct error *err)
{
    const struct bench_row *row = bench_row_of(crew->bench, crew->rows);

    return port_traffic_begin(crew->bench, row, err) || work(crew, err) ||
                   port_traffic_end(crew->bench, row, timed_calls(crew->loops), err)
               ? -1
               : 0;
}

static int time_counted(struct crew *crew, struct error *err)
{
    return bench_each(crew->bench, time_one, crew, err);
}

/* ---- As many calls as it takes ---- */

/* The most that a block has: what is kept of each, or captured, is not to grow without
 * need. */
static long most_iters(const struct bench *bench)
{
    const struct run_spec *spec = bench->file->spec;

    return spec->timing == TIMING_ISOLATED              ? 1
           : spec->per_iter || bench_replays(bench) > 0 ? RUN_SPEC_ITERS_USUAL
                                                        : BLOCK_ITERS_MAX;
}

/* The slowest rank's of what they tell. */
static int agree_on(struct crew *crew, double *us, struct error *err)
{
    int n = crew->bench->file->world_size;
    double *all = calloc((size_t)n, sizeof(*all));
    double *mine = calloc((size_t)crew->n, sizeof(*mine));
    int status = all && mine ? 0 : error_set(err, ERROR_MEMORY, "times: out of memory");

    for (int i = 0; !status && i < crew->n; i++)
        mine[i] = crew->loops[i].told_us;
    if (!status)
        status = bench_allgather(crew->bench, mine, sizeof(*mine), all, err);
    *us = 0;
    for (int i = 0; !status && i < n; i++)
        *us = all[i] > *us ? all[i] : *us;
    free(all);
    free(mine);
    return status;
}

/* So many submissions, if each takes `us`, fill a block. */
static long iters_for(const struct loop *loop, double us)
{
    const struct run_spec *spec = loop->bench->file->spec;
    long replays = bench_replays(loop->bench), most = most_iters(loop->bench);
    double n = us > 0 ? run_spec_block_us(spec, us / (double)spec->agg_iters) / us
                      : (double)most;

    n = ceil(n / (double)(replays > 0 ? replays : 1) - ROUNDING);
    return n < 1 ? 1 : n > (double)most ? most : (long)n;
}

/* The same, where `now` of them took `us`, but no more than GROWTH_MAX times as many as
 * now: what was fast in one call may not stay so. */
static long grown(const struct loop *loop, long now, double us)
{
    long wanted = iters_for(loop, us / (double)now);

    return wanted < now * GROWTH_MAX ? wanted : now * GROWTH_MAX;
}

/* For each of the ranks here. */
static void set_iters(struct crew *crew, long iters)
{
    for (int i = 0; i < crew->n; i++)
        crew->loops[i].iters = iters;
}

/* A block on trial. */
static int try_block(void *arg, int here, struct error *err)
{
    struct loop *loop = &((struct crew *)arg)->loops[here];
    struct own_figures own;

    if (time_calls(loop, &own, err))
        return -1;
    loop->n_samples = 0;
    loop->told_us =
        own.mean_us * (double)loop->bench->file->spec->agg_iters * (double)loop->iters;
    return 0;
}

/* How many submissions make a block: from the warm-up, then from blocks on trial, since
 * calls that follow each other, or were new to a warm-up of one, take another time. */
static int size_block(struct crew *crew, struct error *err)
{
    const struct run_spec *spec = crew->bench->file->spec;
    struct loop *loop = crew->loops;
    double us;

    for (int i = 0; i < crew->n; i++)
        crew->loops[i].told_us = crew->loops[i].submit_us;
    if (agree_on(crew, &us, err))
        return -1;
    set_iters(crew, grown(loop, 1, us));
    /* Long calls take as long in a block as they did in a warm-up of several. */
    bool is_known = us >= spec->block_ms * 1e3 && spec->warmup > 1;
    if (is_known || most_iters(crew->bench) == 1)
        return 0;
    for (int trial = 0; trial < TRIALS_MAX; trial++) {
        long before = loop->iters;

        if (bench_each(crew->bench, try_block, crew, err) || agree_on(crew, &us, err))
            return -1;
        set_iters(crew, grown(loop, before, us));
        if (loop->iters < 2 * before)
            break;
    }
    return 0;
}

/* A machine that has become slower or faster: or else a few blocks would take minutes. */
static void resize_block(struct crew *crew, double call_us)
{
    const struct loop *loop = crew->loops;
    const struct run_spec *spec = crew->bench->file->spec;
    double us = call_us * (double)spec->agg_iters * (double)loop->iters;
    long wanted = iters_for(loop, us / (double)loop->iters);

    if (!loop->has_graph && (wanted > loop->iters * 2 || wanted * 2 < loop->iters))
        set_iters(crew, grown(loop, loop->iters, us));
}

/* Those that follow, of one rank. */
static int time_next_blocks(void *arg, int here, struct error *err)
{
    struct crew *crew = arg;
    struct loop *loop = &crew->loops[here];

    if (crew->blocks->n == 0)
        loop->started_ns = now_ns(loop);
    for (long i = 0; i < crew->n_blocks; i++) {
        if (time_block(loop, err))
            return -1;
        blocks_add(crew->blocks, here, i, crew->n_blocks, loop->own.mean_us,
                   loop->own.enqueue_us);
    }
    blocks_tell(crew->blocks, here, crew->n_blocks, loop->row->is_idle,
                (double)(now_ns(loop) - loop->started_ns) / 1e9);
    return 0;
}

static int time_blocks(struct crew *crew, struct error *err)
{
    struct blocks *blocks = crew->blocks;
    long wanted;

    while ((wanted = blocks_wanted(blocks)) > blocks->n) {
        while (blocks->n < wanted && !blocks_are_late(blocks)) {
            long n = blocks->n > 0 ? blocks->n : 1, left = wanted - blocks->n;
            n = n < BLOCKS_AT_ONCE ? n : BLOCKS_AT_ONCE;
            crew->n_blocks = n < left ? n : left;
            if (bench_each(crew->bench, time_next_blocks, crew, err) ||
                blocks_share(blocks, crew->n_blocks, err))
                return -1;
            resize_block(crew, blocks_latest_us(blocks));
        }
    }
    return 0;
}

/* Slowest rank of each group in each iteration. */
static int combine_samples(struct crew *crew, struct measurement *out, struct error *err)
{
    const struct split_groups *groups = &crew->bench->file->groups;
    long iters = crew->loops->n_samples;
    size_t n = (size_t)crew->bench->file->world_size;
    double *all = calloc(n * SAMPLES_AT_ONCE, sizeof(*all));
    double *mine = calloc((size_t)crew->n * SAMPLES_AT_ONCE, sizeof(*mine));
    int status = all && mine ? 0 : error_set(err, ERROR_MEMORY, "samples: out of memory");

    for (long done = 0; !status && done < iters; done += SAMPLES_AT_ONCE) {
        long part = iters - done < SAMPLES_AT_ONCE ? iters - done : SAMPLES_AT_ONCE;
        for (int i = 0; i < crew->n; i++)
            memcpy(mine + (size_t)i * (size_t)part, crew->loops[i].samples + done,
                   (size_t)part * sizeof(*mine));
        status =
            bench_allgather(crew->bench, mine, (size_t)part * sizeof(*all), all, err);
        for (long i = 0; !status && i < part; i++) {
            for (size_t rank = 0; rank < n; rank++) {
                double us = all[rank * (size_t)part + (size_t)i];
                double *most = &out[groups->of[rank]].samples_us[done + i];
                *most = us > *most ? us : *most;
            }
        }
    }
    free(all);
    free(mine);
    for (int i = 0; i < groups->n; i++)
        out[i].n_samples = iters;
    return status;
}

/* Rank 0, which reports them: how late the ranks came. */
static int find_late(const struct arrivals *all, int n, struct measurement *out,
                     struct error *err)
{
    out->late_us = calloc((size_t)n, sizeof(*out->late_us));
    return out->late_us && !arrivals_late_us(all, n, out->late_us, &out->late_error_us)
               ? 0
               : error_set(err, ERROR_MEMORY, "arrivals: out of memory");
}

static int combine_arrivals(struct crew *crew, struct measurement *out, struct error *err)
{
    int n = crew->bench->file->world_size;
    struct arrivals *all = calloc((size_t)n, sizeof(*all));
    struct arrivals *mine = calloc((size_t)crew->n, sizeof(*mine));
    int status =
        all && mine ? 0 : error_set(err, ERROR_MEMORY, "arrivals: out of memory");

    for (int i = 0; !status && i < crew->n; i++)
        mine[i] = crew->loops[i].arrivals;
    if (!status)
        status = bench_allgather(crew->bench, mine, sizeof(*mine), all, err);
    if (!status && crew->bench->rank == 0)
        status = find_late(all, n, out, err);
    free(all);
    free(mine);
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
    choice_add(&out->choice, &one->choice);
}

static int combine_figures(struct crew *crew, struct measurement *out, struct error *err)
{
    const struct split_groups *groups = &crew->bench->file->groups;
    int n = crew->bench->file->world_size;
    struct own_figures *all = calloc((size_t)n, sizeof(*all));
    struct own_figures *mine = calloc((size_t)crew->n, sizeof(*mine));
    int status = all && mine ? 0 : error_set(err, ERROR_MEMORY, "figures: out of memory");

    for (int i = 0; !status && i < crew->n; i++)
        mine[i] = crew->loops[i].own;
    if (!status)
        status = bench_allgather(crew->bench, mine, sizeof(*mine), all, err);
    for (int i = 0; !status && i < n; i++) {
        int group = groups->of[i];
        add_figures(&out[group], &all[i], groups->place[i], groups->sizes[group]);
    }
    free(all);
    free(mine);
    return status;
}

static int prepare_groups(const struct crew *crew, size_t samples,
                          struct measurement *out)
{
    const struct split_groups *groups = &crew->bench->file->groups;
    bool is_whole = true, is_sampled = crew->loops->samples != NULL;

    for (int i = 0; i < groups->n; i++) {
        memset(&out[i], 0, sizeof(out[i]));
        out[i].times_us = calloc((size_t)groups->sizes[i], sizeof(*out->times_us));
        if (is_sampled)
            out[i].samples_us = calloc(samples, sizeof(*out->samples_us));
        is_whole = is_whole && out[i].times_us && (!is_sampled || out[i].samples_us);
    }
    return is_whole ? 0 : -1;
}

static int prepare_loop(struct loop *loop, long iters, size_t samples)
{
    const struct run_spec *spec = loop->bench->file->spec;
    bool is_whole = true;

    loop->iters = iters;
    arrivals_init(&loop->arrivals);
    if (spec->timing == TIMING_ISOLATED || spec->per_iter) {
        loop->samples = calloc(samples, sizeof(*loop->samples));
        is_whole = loop->samples != NULL;
    }
    if (spec->per_iter && !loop->bench->backend->laps) {
        loop->laps = calloc((size_t)iters + 1, sizeof(*loop->laps));
        is_whole = is_whole && loop->laps;
    }
    return is_whole ? 0 : -1;
}

static int prepare(struct crew *crew, struct measurement *out, struct error *err)
{
    const struct run_spec *spec = crew->bench->file->spec;
    long iters = spec->iters ? spec->iters : most_iters(crew->bench);
    size_t samples = (size_t)iters * (size_t)(spec->iters ? 1 : spec->samples.max);
    int status = 0;

    for (int i = 0; i < crew->n && !status; i++)
        status = prepare_loop(&crew->loops[i], iters, samples);
    return !prepare_groups(crew, samples, out) && !status
               ? 0
               : error_set(err, ERROR_MEMORY, "samples: out of memory");
}

static int measure_blocks(struct crew *crew, struct measurement *out, struct error *err)
{
    struct blocks blocks;

    crew->blocks = &blocks;
    int status = blocks_init(&blocks, crew->bench, err);
    if (!status)
        status = size_block(crew, err);
    if (!status)
        status = count_traffic(crew, time_blocks, err);
    if (!status)
        status = blocks_figures(&blocks, out, err);
    blocks_release(&blocks);
    crew->blocks = NULL;
    return status;
}

/* The timed calls behind each group's figures. */
static void count_calls(const struct loop *loop, struct measurement *out)
{
    for (int i = 0; i < loop->bench->file->groups.n; i++)
        out[i].iters = timed_calls(loop);
}

/* Each rank's loop, about to begin. */
static int sit_down(void *arg, int here, struct error *err)
{
    struct crew *crew = arg;
    struct loop *loop = &crew->loops[here];
    const struct bench_row *row = bench_row_of(crew->bench, crew->rows);

    (void)err;
    loop->bench = crew->bench;
    loop->row = row;
    loop->call = row->call;
    loop->fault = fault_at(crew->bench, FAULT_NO_ROW);
    return 0;
}

static int measure(struct crew *crew, struct measurement *out, struct error *err)
{
    struct bench *bench = crew->bench;
    bool is_counted = bench->file->spec->iters > 0;

    if (bench_each(bench, sit_down, crew, err) || prepare(crew, out, err) ||
        bench_each(bench, warm_up, crew, err) ||
        (is_counted && count_traffic(crew, time_counted, err)) ||
        combine_figures(crew, out, err) ||
        (!is_counted && measure_blocks(crew, out, err)))
        return -1;
    count_calls(crew->loops, out);
    if (bench->file->spec->timing == TIMING_ISOLATED && bench->file->groups.n == 1 &&
        combine_arrivals(crew, out, err))
        return -1;
    if (crew->loops->has_graph)
        bench->backend->graph->drop(bench->comm);
    return crew->loops->samples ? combine_samples(crew, out, err) : 0;
}

int measure_row(struct bench *bench, const struct bench_row *rows,
                struct measurement *out, struct error *err)
{
    struct crew crew = {.bench = bench, .rows = rows, .n = bench_ranks_here(bench)};
    int status;

    crew.loops = calloc((size_t)crew.n, sizeof(*crew.loops));
    status = crew.loops ? measure(&crew, out, err)
                        : error_set(err, ERROR_MEMORY, "row: out of memory");
    for (int i = 0; crew.loops && i < crew.n; i++) {
        free(crew.loops[i].samples);
        free(crew.loops[i].laps);
    }
    free(crew.loops);
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
