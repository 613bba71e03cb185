/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - the main program of all workers: the contract with the agent */
#include "agent/worker/bench/worker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/worker/base/affinity.h"
#include "agent/worker/base/cpu_clock.h"
#include "agent/worker/base/stacks.h"
#include "agent/worker/bench/bench.h"
#include "agent/worker/bench/build_id.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/bench/events.h"
#include "agent/worker/bench/first_failure.h"
#include "agent/worker/bench/group.h"
#include "agent/worker/bench/progress.h"
#include "agent/worker/bench/describe.h"
#include "agent/worker/bench/watchdog.h"
#include "agent/worker/group/hostid.h"
#include "agent/worker/group/rendezvous_client.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/version.h"

#define EVENTS_FD 3
#define UNREACHED_MAX 256 /* maximum number of `unreached` events per rank */
#define JOIN_TIMEOUT_MS 300000
#define STOP_GRACE_MS 300 /* wait for this rank's SIGTERM after another rank got one */

static atomic_int stop_requested; /* set by the signal handler */

struct worker {
    struct backend *backend;
    int64_t started_ns;
    struct events events;
    struct progress progress;
    struct watchdog watchdog;
    _Atomic(json_t *) done; /* the event `done` of a successful case, until it is sent */
    struct case_file *file;
    struct rendezvous_client *store;
    struct tree *tree;
    struct backend_comm *comm;
    struct backend_env env;
    int *members; /* ranks of this rank's group */
    const char *master_addr, *master_port;
    int n_unreached; /* `unreached` events sent so far */
    /* CPU clock rate before the first and after the last row; NAN: unknown */
    double cpu_mhz[2];
    const char *stage;      /* error code for a failure in the current stage */
    struct error misplaced; /* a failure to bind to the assigned CPUs */
};

static void on_stop(int signal)
{
    (void)signal;
    atomic_store_explicit(&stop_requested, 1, memory_order_relaxed);
}

static void set_up_signals(void)
{
    struct sigaction action = {.sa_handler = on_stop};

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

static int print_probe(struct backend *backend)
{
    if (backend->load)
        backend->load(backend);
    json_t *probe = describe_probe(backend);

    if (!probe) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    int status = json_dumpf(probe, stdout, JSON_COMPACT);
    json_decref(probe);
    return status || printf("\n") < 0 || fflush(stdout) ? 1 : 0;
}

static double seconds_since_start(const struct worker *worker)
{
    return (double)(clock_monotonic_ns() - worker->started_ns) / 1e9;
}

static void emit_phase(struct worker *worker, const char *phase, json_t *more)
{
    events_emit(&worker->events, "phase",
                describe_phase(phase, seconds_since_start(worker), more));
}

static void emit_hello(struct worker *worker)
{
    char host[256] = "", hostid[HOSTID_MAX];

    gethostname(host, sizeof(host) - 1);
    hostid_text(getenv("RINGBENCH_HOSTID"), hostid);
    events_emit(&worker->events, "hello",
                describe_hello(worker->backend, getpid(), host, hostid));
}

static int read_number(const char *name, int min, int max, int *out, struct error *err)
{
    const char *text = getenv(name);
    char *end;

    errno = 0;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || errno || value < min || value > max) {
        return error_set(err, ERROR_INVALID,
                         "environment: %s=%s must be a number from %d to %d", name,
                         text ? text : "", min, max);
    }
    *out = (int)value;
    return 0;
}

static int read_environment(struct worker *worker, struct error *err)
{
    struct backend_env *env = &worker->env;

    if (read_number("WORLD_SIZE", 1, 1 << 20, &env->world_size, err) ||
        read_number("RANK", 0, env->world_size - 1, &env->rank, err) ||
        read_number("LOCAL_WORLD_SIZE", 1, env->world_size, &env->local_world_size,
                    err) ||
        read_number("LOCAL_RANK", 0, env->local_world_size - 1, &env->local_rank, err))
        return -1;
    worker->master_addr = getenv("MASTER_ADDR");
    worker->master_port = getenv("MASTER_PORT");
    if (!worker->master_addr || !worker->master_port) {
        return error_set(err, ERROR_INVALID,
                         "environment: MASTER_ADDR and MASTER_PORT must be set");
    }
    env->node = getenv("RINGBENCH_NODE");
    env->address = getenv("RINGBENCH_ADDRESS");
    env->hostid = getenv("RINGBENCH_HOSTID");
    env->stop = &stop_requested;
    env->timeout_ms = JOIN_TIMEOUT_MS;
    return 0;
}

static int read_case(struct worker *worker, struct error *err)
{
    const char *path = getenv("RINGBENCH_CASE"),
               *faults = getenv("RINGBENCH_ALLOW_FAULTS");

    worker->stage = "bad_case";
    if (read_environment(worker, err))
        return -1;
    if (!path)
        return error_set(err, ERROR_INVALID, "environment: RINGBENCH_CASE is not set");
    worker->file = case_file_read(path, faults && strcmp(faults, "1") == 0, err);
    if (!worker->file)
        return -1;
    if (worker->file->world_size != worker->env.world_size) {
        return error_set(err, ERROR_INVALID,
                         "case: world_size is %d, but WORLD_SIZE is %d",
                         worker->file->world_size, worker->env.world_size);
    }
    return backend_supports_case(worker->backend, worker->file, err);
}

static void emit_failure(struct worker *worker, const char *code, const char *text,
                         int peer)
{
    events_emit_last(&worker->events, "done", describe_failure(code, text, peer));
}

/* Add the CPU's clock rates to `clocks`, which the backend may already have filled. */
static void add_cpu_clock(const struct worker *worker, json_t *done)
{
    json_t *clocks = json_object_get(done, "clocks");

    if (!clocks) {
        clocks = json_object();
        json_object_set_new(done, "clocks", clocks);
    }
    json_object_set_new(clocks, "cpu_mhz",
                        json_pack("[f, f]", worker->cpu_mhz[0], worker->cpu_mhz[1]));
}

static json_t *success_of(const struct worker *worker)
{
    json_t *done = json_pack("{s:b}", "ok", 1);
    json_t *report =
        worker->backend->report ? worker->backend->report(worker->comm) : NULL;

    if (done && report)
        json_object_update(done, report);
    json_decref(report);
    if (done && isfinite(worker->cpu_mhz[0]) && isfinite(worker->cpu_mhz[1]))
        add_cpu_clock(worker, done);
    return done;
}

static bool is_stopping(void)
{
    return atomic_load_explicit(&stop_requested, memory_order_relaxed) != 0;
}

static void sleep_ms(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

static int join(struct worker *worker, struct error *err)
{
    const struct fault *fault = &worker->file->fault;
    int64_t joined;

    worker->stage = "rendezvous";
    while (fault->kind == FAULT_NO_JOIN && fault->rank == worker->env.rank) {
        if (is_stopping())
            return error_set(err, ERROR_UNAVAILABLE, "stopped on request");
        sleep_ms(10);
    }
    worker->store = rendezvous_client_connect(worker->master_addr, worker->master_port,
                                              JOIN_TIMEOUT_MS, &stop_requested, err);
    if (!worker->store)
        return -1;
    rendezvous_client_set_secret(worker->store, worker->file->store_secret);
    if (build_id_agree(worker->store, worker->env.rank, worker->env.node, err) ||
        rendezvous_client_add(worker->store, "ringbench/joined", 1, &joined, err))
        return -1;
    emit_phase(worker, "joined", NULL);
    return 0;
}

/* Runs on the watchdog's thread while the main thread hangs. */
static void give_up(void *arg, const struct error *error, int lost)
{
    struct worker *worker = arg;
    json_t *done =
        error->code == ERROR_NONE
            ? atomic_exchange_explicit(&worker->done, NULL, memory_order_acquire)
            : NULL;

    if (done) {
        log_warn("%s", error->text);
        events_emit_last(&worker->events, "done", done);
    } else if (error->code == ERROR_UNAVAILABLE || is_stopping()) {
        emit_failure(worker, "cancelled", error->text, -1);
    } else {
        emit_failure(worker, lost >= 0 ? "peer_lost" : "internal", error->text, lost);
    }
    /* Flush a library's log, unless the hanging thread holds the stream's lock. */
    if (ftrylockfile(stdout) == 0)
        fflush_unlocked(stdout);
    _exit(done ? 0 : 1);
}

static void emit_unreached(void *arg, const char *over, int rank,
                           const struct attempt_place *place, const char *via,
                           const char *reason)
{
    struct worker *worker = arg;

    if (worker->n_unreached++ < UNREACHED_MAX)
        events_emit(&worker->events, "unreached",
                    describe_unreached(over, rank, place, via, reason));
}

static int form(struct worker *worker, struct error *err)
{
    worker->stage = "connect";
    worker->env.loaded = worker->backend->loaded;
    worker->env.store = worker->store;
    worker->env.finished = &worker->progress.finished;
    worker->env.stall_ms = worker->file->spec->stall_s * 1000;
    worker->env.file = worker->file;
    worker->env.watchdog = &worker->watchdog;
    worker->env.observer = (struct attempt_observer){emit_unreached, worker};
    group_find(worker->file, &worker->env, &worker->members);
    struct tree_config config = backend_env_tree(&worker->env);
    worker->tree = worker->env.tree = tree_create(&config, err);
    if (!worker->tree)
        return -1;
    watchdog_follow(&worker->watchdog, worker->tree);
    worker->comm = worker->backend->create(&worker->env, err);
    if (!worker->comm || (worker->backend->connect &&
                          worker->backend->connect(worker->comm, &worker->env, err)))
        return -1;
    emit_phase(worker, "connected", describe_connected(worker->backend, worker->comm));
    return 0;
}

static int measure(struct worker *worker, struct error *err)
{
    struct bench bench = {.backend = worker->backend,
                          .comm = worker->comm,
                          .tree = worker->tree,
                          .file = worker->file,
                          .events = &worker->events,
                          .progress = &worker->progress,
                          .stop = &stop_requested,
                          .rank = worker->env.rank};

    worker->stage = "internal";
    emit_phase(worker, "running", NULL);
    worker->cpu_mhz[0] = cpu_clock_mhz("");
    if (bench_run(&bench, err))
        return -1;
    worker->cpu_mhz[1] = cpu_clock_mhz("");
    emit_phase(worker, "finishing", NULL);
    return 0;
}

/* Loading may hang if a driver is broken. It therefore comes last: the rank already
 * reports its phase every second, prints its stacks on request, and can be stopped. */
static void load(struct backend *backend, struct progress *progress)
{
    if (!backend->load)
        return;
    progress_load(progress, backend->libraries);
    backend->load(backend);
    progress_load(progress, NULL);
}

static int run(struct worker *worker, struct error *err)
{
    if (worker->misplaced.code != ERROR_NONE) {
        worker->stage = "bad_case";
        *err = worker->misplaced;
        return -1;
    }
    worker->stage = "internal";
    if (watchdog_start(&worker->watchdog, &worker->progress, &worker->events,
                       &stop_requested, give_up, worker, err))
        return -1;
    load(worker->backend, &worker->progress);
    if (read_case(worker, err))
        return -1;
    return join(worker, err) || form(worker, err) || measure(worker, err) ? -1 : 0;
}

static const char *code_of(const struct worker *worker, const struct error *error)
{
    switch (error->code) {
    case ERROR_MEMORY:
        return "memory";
    case ERROR_UNSUPPORTED:
        return "unsupported";
    case ERROR_INVALID:
        return "bad_case";
    default:
        return worker->stage;
    }
}

/* Report a failure, after agreeing with the other ranks on the first one. */
static void fail(struct worker *worker, const struct error *error)
{
    int self = worker->env.rank;
    bool is_silence = error->code == ERROR_UNREACHABLE;
    /* Blame a lost peer only for errors that the loss can cause. */
    int lost = worker->tree && (error->code == ERROR_PEER || is_silence)
                   ? worker->tree->watch.lost
                   : -1;
    bool was_stopped = error->code == ERROR_UNAVAILABLE && is_stopping();
    struct first_failure failure = {lost >= 0 && !was_stopped ? lost : self, was_stopped,
                                    *error};

    if (worker->store)
        first_failure_settle(worker->store, &failure);
    if (failure.is_cancelled && failure.rank != self)
        for (int ms = 0; ms < STOP_GRACE_MS && !is_stopping(); ms += 10)
            sleep_ms(10);
    if (is_stopping())
        emit_failure(worker, "cancelled", "stopped on request", -1);
    else if (lost >= 0 && failure.rank != self && !is_silence)
        emit_failure(worker, "peer_lost", failure.error.text, failure.rank);
    else if (lost >= 0)
        emit_failure(worker, "peer_lost", error->text, lost);
    else
        emit_failure(worker, code_of(worker, error), error->text, -1);
}

static int finish(struct worker *worker, int status, const struct error *error)
{
    const struct backend *backend = worker->backend;

    if (status) {
        fail(worker, error);
        backend->abort(worker->comm);
    } else {
        atomic_store_explicit(&worker->done, success_of(worker), memory_order_release);
        backend->destroy(worker->comm);
        events_emit_last(
            &worker->events, "done",
            atomic_exchange_explicit(&worker->done, NULL, memory_order_acquire));
    }
    watchdog_follow(&worker->watchdog, NULL);
    tree_destroy(worker->tree);
    watchdog_stop(&worker->watchdog);
    rendezvous_client_destroy(worker->store);
    case_file_destroy(worker->file);
    free(worker->members);
    events_release(&worker->events);
    return status ? 1 : 0;
}

/* Check the functions that the bench loop calls without a test for NULL. */
static void assert_complete(const struct backend *backend)
{
    assert(backend->create && backend->destroy && backend->abort && backend->run);
    assert(backend->transport && backend->memory && backend->alloc);
    /* The host's clock cannot time calls that only enqueue. */
    assert(!backend->is_async || backend->laps);
}

static int work(struct backend *backend)
{
    struct worker worker = {.backend = backend, .started_ns = clock_monotonic_ns()};
    struct error error = {0};

    assert_complete(backend);
    if (fcntl(EVENTS_FD, F_GETFD) < 0) {
        fprintf(
            stderr,
            "descriptor %d is not open. Let ringbench-agent start this program; by hand "
            "use only --probe\n",
            EVENTS_FD);
        return 2;
    }
    fcntl(EVENTS_FD, F_SETFD, FD_CLOEXEC);
    set_up_signals();
    affinity_apply(affinity_given(), &worker.misplaced);
    if (stacks_start(&error))
        log_warn("stacks cannot be printed on a stall: %s", error.text);
    if (events_init(&worker.events, EVENTS_FD))
        return 2;
    emit_hello(&worker);
    int status = run(&worker, &error);
    return finish(&worker, status, &error);
}

static int print_help(FILE *out, const char *name)
{
    return fprintf(out,
                   "usage: ringbench-worker-%s [--probe | --version]\n\n"
                   "One rank of a case with backend %s. Started by ringbench-agent.\n\n"
                   "  --probe    print this node's support for the backend as JSON, and "
                   "exit\n"
                   "  --help     print this and exit\n"
                   "  --version  print the version and exit\n",
                   name, name) < 0;
}

int worker_main(int argc, char **argv, const struct backend *backend)
{
    struct backend loaded = *backend;
    int status;

    log_init("ringbench-worker", LOG_INFO);
    if (argc == 1 || (argc == 2 && strcmp(argv[1], "--probe") == 0)) {
        status = argc == 1 ? work(&loaded) : print_probe(&loaded);
        free(loaded.loaded);
        return status;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        char name[64];

        snprintf(name, sizeof(name), "ringbench-worker-%s", backend->name);
        return version_print(name) ? 1 : 0;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return print_help(stdout, backend->name);
    print_help(stderr, backend->name);
    return 2;
}
