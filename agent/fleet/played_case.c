/* played_case.c - one case of a run on nodes that are played */
#include "agent/fleet/played_case.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/case/event_line.h"
#include "agent/case/lines.h"
#include "agent/worker/base/thread.h"
#include "agent/worker/bench/bench.h"
#include "agent/worker/bench/build_id.h"
#include "agent/worker/bench/says.h"
#include "agent/worker/sim/sim.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/time_scale.h"

#define PROGRESS_MS 1000 /* as workers report it */
#define ENV_MAX ((size_t)1 << 20)
#define NICE 10 /* below the loop, which has to answer the server */

/* A node's part. */
struct seat {
    struct played_place place;
    int first_rank, ranks;
    bool is_gone;
};

struct played_case {
    struct played_case_params params;
    struct case_id id;
    int world_size;
    size_t n_expected; /* nodes */
    struct seat *seats;
    size_t n_seats;
    int64_t began_ns;
    json_t *spec; /* the case file, and the run's variables, until it begins */
    json_t *env;
    char **environment; /* SIM_..., ends with NULL */
    struct case_file *file;
    struct sim_world *world;
    int failed_rank; /* whom the others blame: stopped, or its node died; -1: nobody */
    bool is_over;
    /* The thread's, until it has closed its end of the pipe. */
    pthread_t thread;
    bool is_running;
    atomic_int stop;
    struct events events;
    int status;
    struct error error;
    /* Where its events come out, and the progress that is looked at meanwhile. */
    uv_pipe_t pipe;
    uv_timer_t timer;
    struct lines lines;
    int n_handles;
};

/* ---- What its ranks say ---- */

static void say(const struct seat *seat, const struct case_id *id, int rank,
                const char *type, json_t *event)
{
    json_t *line = json_pack("{s:s}", "type", type);

    if (line && event)
        json_object_update(line, event);
    json_decref(event);
    outbox_add_steal(seat->place.outbox, id, rank, line);
}

static double seconds_of(const struct played_case *played)
{
    return (double)(clock_monotonic_ns() - played->began_ns) / 1e9;
}

static void say_phase(const struct played_case *played, const struct seat *seat, int rank,
                      const char *phase, json_t *more)
{
    say(seat, &played->id, rank, "phase", says_phase(phase, seconds_of(played), more));
}

static json_t *hello_of(const struct seat *seat, int rank)
{
    json_t *hello =
        says_hello(&backend_sim, rank + 1, seat->place.name, seat->place.name);

    if (hello)
        json_object_set_new(hello, "build", json_string(seat->place.build));
    return hello;
}

static void say_joined(const struct played_case *played, const struct seat *seat)
{
    for (int i = 0; i < seat->ranks; i++) {
        int rank = seat->first_rank + i;

        say(seat, &played->id, rank, "spawn", json_pack("{s:i}", "pid", rank + 1));
        say(seat, &played->id, rank, "hello", hello_of(seat, rank));
        say_phase(played, seat, rank, "joined", NULL);
    }
}

/* The last of a rank: done (taken over), then its process ends. */
static void say_end(const struct played_case *played, const struct seat *seat, int rank,
                    json_t *done, int code)
{
    outbox_drop_progress(seat->place.outbox, &played->id, rank);
    say(seat, &played->id, rank, "done", done);
    say(seat, &played->id, rank, "exit", json_pack("{s:i, s:[]}", "code", code, "tail"));
}

static void leave(struct played_case *played, struct seat *seat)
{
    uint64_t seq;

    seat->is_gone = true;
    seq = outbox_add_steal(seat->place.outbox, &played->id, CASE_NO_RANK,
                           json_pack("{s:s}", "type", "gone"));
    played->params.on_gone(seat->place.node, &played->id, seq);
}

static void fail_seat(struct played_case *played, struct seat *seat, const char *code,
                      const char *text, int peer)
{
    for (int i = 0; i < seat->ranks; i++)
        say_end(played, seat, seat->first_rank + i, says_failure(code, text, peer), 1);
    leave(played, seat);
}

static void check_over(struct played_case *played)
{
    bool is_over = !played->is_running && !played->is_over;

    for (size_t i = 0; i < played->n_seats; i++)
        is_over = is_over && played->seats[i].is_gone;
    if (!is_over)
        return;
    played->is_over = true;
    played->params.on_over(played->params.arg, played);
}

/* ---- The end ---- */

static const char *code_of(const struct error *error)
{
    return error->code == ERROR_MEMORY        ? "memory"
           : error->code == ERROR_UNSUPPORTED ? "unsupported"
           : error->code == ERROR_INVALID     ? "bad_case"
                                              : "internal";
}

static void end_well(struct played_case *played, struct seat *seat)
{
    for (int i = 0; i < seat->ranks; i++) {
        int rank = seat->first_rank + i;

        say_phase(played, seat, rank, "finishing", NULL);
        say_end(played, seat, rank, json_pack("{s:b}", "ok", 1), 0);
    }
    leave(played, seat);
}

/* Rank 0 failed by itself; or the others saw a peer end. */
static void end_badly(struct played_case *played, struct seat *seat)
{
    int blamed = played->failed_rank >= 0 ? played->failed_rank : 0;
    char text[80];

    if (played->failed_rank < 0 && seat->first_rank == 0) {
        fail_seat(played, seat, code_of(&played->error), played->error.text, -1);
        return;
    }
    snprintf(text, sizeof(text), "lost rank %d: its process has ended", blamed);
    fail_seat(played, seat, "peer_lost", text, blamed);
}

static void end_all(struct played_case *played)
{
    for (size_t i = 0; i < played->n_seats; i++) {
        struct seat *seat = &played->seats[i];

        if (!seat->is_gone && played->status == 0)
            end_well(played, seat);
        else if (!seat->is_gone)
            end_badly(played, seat);
    }
    check_over(played);
}

/* ---- While it runs ---- */

static const struct seat *seat_of_rank(const struct played_case *played, int rank)
{
    for (size_t i = 0; i < played->n_seats; i++)
        if (rank >= played->seats[i].first_rank &&
            rank < played->seats[i].first_rank + played->seats[i].ranks)
            return &played->seats[i];
    return NULL;
}

/* Only rank 0 has more to say than the rest. */
static void on_line(void *arg, const char *line, size_t len, size_t dropped)
{
    struct played_case *played = arg;
    const struct seat *seat = seat_of_rank(played, 0);

    (void)dropped;
    if (line && seat && !seat->is_gone)
        outbox_add_line(seat->place.outbox, &played->id, 0, line, len);
}

static void tell_progress(struct played_case *played, const struct seat *seat)
{
    struct bench_rank *ranks = sim_world_ranks(played->world);

    for (int i = 0; i < seat->ranks; i++) {
        int rank = seat->first_rank + i;
        json_t *event = progress_describe(&ranks[rank].progress);
        char *text = NULL;

        if (event && !json_object_set_new(event, "type", json_string("progress")))
            text = json_text(event);
        if (text)
            outbox_set_progress(seat->place.outbox, &played->id, rank, text,
                                strlen(text));
        free(text);
        json_decref(event);
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct played_case *played = timer->data;

    for (size_t i = 0; i < played->n_seats; i++)
        if (!played->seats[i].is_gone)
            tell_progress(played, &played->seats[i]);
}

static void on_closed(uv_handle_t *handle)
{
    struct played_case *played = handle->data;

    if (--played->n_handles > 0)
        return;
    lines_release(&played->lines);
    sim_world_destroy(played->world);
    case_file_destroy(played->file);
    for (char **item = played->environment; item && *item; item++)
        free(*item);
    free(played->environment);
    json_decref(played->spec);
    json_decref(played->env);
    free(played->seats);
    free(played);
}

static void on_thread_end(struct played_case *played)
{
    lines_end(&played->lines, on_line, played);
    uv_read_stop((uv_stream_t *)&played->pipe);
    uv_timer_stop(&played->timer);
    pthread_join(played->thread, NULL);
    events_release(&played->events);
    played->is_running = false;
    end_all(played);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)handle;
    buf->base = malloc(suggested);
    buf->len = buf->base ? suggested : 0;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct played_case *played = stream->data;

    if (n > 0)
        lines_feed(&played->lines, buf->base, (size_t)n, on_line, played);
    free(buf->base);
    if (n < 0)
        on_thread_end(played);
}

static void *play(void *arg)
{
    struct played_case *played = arg;
    struct bench_rank *ranks = sim_world_ranks(played->world);
    struct bench bench = {.backend = &backend_sim,
                          .comm = ranks[0].comm,
                          .file = played->file,
                          .events = &played->events,
                          .progress = &ranks[0].progress,
                          .stop = &played->stop,
                          .played = ranks};

    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    played->status = bench_run(&bench, &played->error);
    close(played->events.fd);
    return NULL;
}

/* ---- The beginning ---- */

/* "NAME=VALUE" for the variable, with what the fleet's faults add to it. */
static char *variable(const struct played_case *played, const char *name,
                      const char *value, const struct buf *more)
{
    char *text = NULL;
    const char *faults = more->len > 0 ? more->data : "";

    (void)played;
    if (asprintf(&text, "%s=%s%s%s", name, value, *value && *faults ? "," : "", faults) <
        0)
        return NULL;
    return text;
}

static int add_faults(struct played_case *played, enum fault_what what, size_t *n)
{
    const char *name = faults_variable(what);
    const char *value = json_get_str(played->env, name, "");
    struct buf list;
    int status;

    buf_init(&list, ENV_MAX);
    status = faults_list(&played->params.config->faults, what, &list);
    if (!status && (list.len > 0 || *value)) {
        played->environment[*n] = variable(played, name, value, &list);
        status = played->environment[(*n)++] ? 0 : -1;
    }
    buf_release(&list);
    json_object_del(played->env, name);
    return status;
}

/* The run's variables for the model, with the fleet's faults and seed. */
static int make_environment(struct played_case *played, struct error *err)
{
    static const enum fault_what told[] = {PLAYED_SLOW_NODE, PLAYED_SLOW_LINK,
                                           PLAYED_WRONG_INTERFACE};
    const char *seed = played->params.config->seed, *name;
    const struct buf none = {0};
    size_t n = 0;
    int status = 0;
    json_t *value;

    if (seed && !json_object_get(played->env, "SIM_SEED"))
        json_object_set_new(played->env, "SIM_SEED", json_string(seed));
    played->environment = calloc(json_object_size(played->env) + 4, sizeof(char *));
    for (size_t i = 0; played->environment && !status && i < 3; i++)
        status = add_faults(played, told[i], &n);
    json_object_foreach (played->env, name, value) {
        if (!played->environment || status || !json_is_string(value))
            continue;
        played->environment[n] = variable(played, name, json_string_value(value), &none);
        status = played->environment[n++] ? 0 : -1;
    }
    return played->environment && !status ? 0
                                          : error_set(err, ERROR_MEMORY, "out of memory");
}

static void shape(void *arg, struct sim_topology *topology)
{
    const struct fleet_config *config = arg;

    for (int i = 0; i < topology->n_nodes; i++) {
        struct sim_node *node = &topology->nodes[i];
        const struct played_fault *fault;
        char rack[64];

        node->rack =
            (int)fleet_config_rack(config, fleet_config_index(config, node->name));
        snprintf(rack, sizeof(rack), FLEET_RACK "%d", node->rack);
        fault = faults_find(&config->faults, PLAYED_SLOW_RACK, rack);
        if (fault)
            node->across = fault->value;
    }
}

/* Ranks go by their number, or as a node's first. */
static const struct played_fault *fault_of_rank(const struct played_case *played,
                                                enum fault_what what,
                                                const struct seat *seat, int rank)
{
    const struct played_faults *faults = &played->params.config->faults;
    const struct played_fault *fault;
    char number[16];

    snprintf(number, sizeof(number), "%d", rank);
    fault = faults_find(faults, what, number);
    return fault || rank > seat->first_rank ? fault
                                            : faults_find(faults, what, seat->place.name);
}

static void set_rank_fault(struct played_case *played, const struct seat *seat, int rank)
{
    const struct played_fault *hang = fault_of_rank(played, PLAYED_HANG, seat, rank);
    const struct played_fault *late = fault_of_rank(played, PLAYED_LATE, seat, rank);

    if (hang)
        played->file->fault =
            (struct fault){.kind = FAULT_HANG, .rank = rank, .op = (uint64_t)hang->value};
    else if (late)
        played->file->fault =
            (struct fault){.kind = FAULT_SLOW, .rank = rank, .us = (long)late->value};
}

static void set_fault(struct played_case *played)
{
    for (size_t i = 0; i < played->n_seats; i++)
        for (int k = 0; k < played->seats[i].ranks; k++)
            set_rank_fault(played, &played->seats[i], played->seats[i].first_rank + k);
}

/* Of a run's faults, the two that a process of its own is needed for. */
static int check_fault(const struct fault *fault, struct error *err)
{
    const char *kind = fault->kind == FAULT_DIE       ? "die"
                       : fault->kind == FAULT_NO_JOIN ? "no_join"
                                                      : NULL;

    return kind
               ? error_set(err, ERROR_UNSUPPORTED,
                           "ringbench-sim can't play the fault %s: it has hang, slow and "
                           "wrong, and --fault dying=NODE:S for nodes that die",
                           kind)
               : 0;
}

static int prepare(struct played_case *played, struct error *err)
{
    struct sim_setting setting = {.world_size = played->world_size,
                                  .shape = shape,
                                  .shape_arg = (void *)(uintptr_t)played->params.config};

    played->file = case_file_parse(played->spec, true, err);
    if (!played->file || check_fault(&played->file->fault, err))
        return -1;
    json_decref(played->spec);
    played->spec = NULL;
    set_fault(played);
    if (says_supported(&backend_sim, played->file, err) || make_environment(played, err))
        return -1;
    setting.file = played->file;
    setting.environment = played->environment;
    played->world = sim_world_create(&setting, &played->stop, err);
    return played->world ? 0 : -1;
}

static void say_running(struct played_case *played)
{
    struct bench_rank *ranks = sim_world_ranks(played->world);

    for (size_t i = 0; i < played->n_seats; i++) {
        const struct seat *seat = &played->seats[i];

        for (int k = 0; k < seat->ranks; k++) {
            int rank = seat->first_rank + k;

            say_phase(played, seat, rank, "connected",
                      says_connected(&backend_sim, ranks[rank].comm));
            say_phase(played, seat, rank, "running", NULL);
        }
    }
}

static int start_thread(struct played_case *played, struct error *err)
{
    int fds[2], status;

    if (pipe2(fds, O_CLOEXEC))
        return error_set_errno(err, ERROR_INTERNAL, errno, "pipe");
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    if (events_init(&played->events, fds[1]) || uv_pipe_open(&played->pipe, fds[0])) {
        close(fds[0]);
        close(fds[1]);
        return error_set(err, ERROR_INTERNAL, "can't watch a pipe");
    }
    status = thread_start(&played->thread, "case", play, played);
    if (status) {
        close(fds[1]);
        events_release(&played->events);
        return error_set_errno(err, ERROR_INTERNAL, status, "thread of a case");
    }
    played->is_running = true;
    uv_read_start((uv_stream_t *)&played->pipe, on_alloc, on_read);
    uv_timer_start(&played->timer, on_timer, scaled_ms(PROGRESS_MS),
                   scaled_ms(PROGRESS_MS));
    return 0;
}

static void begin(struct played_case *played)
{
    if (prepare(played, &played->error) == 0) {
        say_running(played);
        if (start_thread(played, &played->error) == 0)
            return;
    }
    played->status = -1;
    end_all(played);
}

/* ---- What nodes do ---- */

struct played_case *played_case_create(const struct played_case_params *params,
                                       const struct command *start, struct error *err)
{
    struct played_case *played = calloc(1, sizeof(*played));

    if (played)
        played->seats = calloc((size_t)start->group_world_size, sizeof(*played->seats));
    if (!played || !played->seats) {
        free(played);
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    played->params = *params;
    played->id = start->id;
    played->world_size = start->world_size;
    played->n_expected = (size_t)start->group_world_size;
    played->began_ns = clock_monotonic_ns();
    played->spec = json_incref((json_t *)(uintptr_t)start->spec);
    played->env = start->env ? json_copy(start->env) : json_object();
    played->failed_rank = -1;
    lines_init(&played->lines, EVENT_LINE_MAX, LINES_DROP);
    uv_pipe_init(params->loop, &played->pipe, 0);
    uv_timer_init(params->loop, &played->timer);
    played->pipe.data = played->timer.data = played;
    played->n_handles = 2;
    return played;
}

void played_case_destroy(struct played_case *played)
{
    if (!played)
        return;
    if (played->is_running) {
        atomic_store(&played->stop, 1);
        /* Else it might wait for a reader for ever. */
        uv_close((uv_handle_t *)&played->pipe, on_closed);
        pthread_join(played->thread, NULL);
        events_release(&played->events);
    } else {
        uv_close((uv_handle_t *)&played->pipe, on_closed);
    }
    uv_close((uv_handle_t *)&played->timer, on_closed);
}

const struct case_id *played_case_id(const struct played_case *played)
{
    return &played->id;
}

static struct seat *find_seat(struct played_case *played, const void *node)
{
    for (size_t i = 0; i < played->n_seats; i++)
        if (played->seats[i].place.node == node && !played->seats[i].is_gone)
            return &played->seats[i];
    return NULL;
}

/* As build_id.h has it: the first that joins says which build it is. */
static bool agrees(const struct played_case *played, const struct seat *seat,
                   struct error *err)
{
    const struct played_place *first = &played->seats[0].place, *own = &seat->place;

    return strcmp(first->build, own->build) == 0 ||
           build_id_differ(first->build, first->name, own->build, own->name, err) == 0;
}

int played_case_join(struct played_case *played, const struct played_place *place,
                     const struct command *start, struct error *err)
{
    struct seat *seat = &played->seats[played->n_seats];
    struct error why;

    if (find_seat(played, place->node))
        return 0;
    if (played->n_seats == played->n_expected)
        return error_set(err, ERROR_INVALID, "the case has all its %zu nodes",
                         played->n_expected);
    *seat = (struct seat){.place = *place,
                          .first_rank = start->ranks[0].rank,
                          .ranks = (int)start->n_ranks};
    played->n_seats++;
    say_joined(played, seat);
    if (!agrees(played, seat, &why)) {
        played->failed_rank = seat->first_rank;
        fail_seat(played, seat, "rendezvous", why.text, -1);
        check_over(played);
    } else if (played->n_seats == played->n_expected && played->failed_rank < 0) {
        begin(played);
    }
    return 0;
}

/* Whatever comes of it, the rows end. */
static void end_rows(struct played_case *played, const struct seat *seat)
{
    if (played->failed_rank < 0)
        played->failed_rank = seat->first_rank;
    atomic_store(&played->stop, 1);
}

void played_case_stop(struct played_case *played, const void *node)
{
    struct seat *seat = find_seat(played, node);

    if (!seat)
        return;
    end_rows(played, seat);
    fail_seat(played, seat, "cancelled", "told to stop", -1);
    check_over(played);
}

void played_case_kill(struct played_case *played, const void *node)
{
    struct seat *seat = find_seat(played, node);

    if (!seat)
        return;
    end_rows(played, seat);
    seat->is_gone = true;
    check_over(played);
}
