/* supervisor.c - the cases that this node takes part in, and their workers */
#include "agent/process/supervisor.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent/machine/conditions.h"
#include "agent/process/case_files.h"
#include "agent/process/launch.h"
#include "agent/process/process.h"
#include "agent/process/rank.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/time_scale.h"

#define STOP_MS 5000   /* from SIGTERM to SIGKILL */
#define STACKS_MS 3000 /* to print stacks at most, before SIGTERM */
#define PEERS_MS 500   /* for the other nodes' ranks to do so, which end if these do */
#define FLUSH_MS 100   /* how long output may wait for more of it */
#define REMEMBERED 64  /* ended cases whose commands may still arrive */
#define GONE_TO_COME UINT64_MAX
#define START_NS 10000000 /* for starting ranks, before the loop is served again */

struct live_case {
    struct supervisor *supervisor;
    struct case_id id;
    char path[CASE_PATH_MAX];
    struct rank **ranks;
    size_t n_ranks, n_alive;
    struct bind_plan plan;         /* of its workers */
    struct conditions *conditions; /* NULL until it can start */
    struct launch *launch;         /* ranks are still being started; NULL: no longer */
    struct process_tree *tree;
    uv_timer_t kill_timer, limit_timer, start_timer;
    int open_timers;
    long limit_s; /* of a program; 0: none */
    int world_size;
    bool is_stopping;
    bool is_asking;      /* for stacks, before they are told to stop */
    bool has_tree_ended; /* nothing is left of what its workers started */
    struct live_case *next;
};

struct ended_case {
    struct case_id id;
    uint64_t gone_seq; /* 0: none; GONE_TO_COME */
};

struct supervisor {
    struct supervisor_params params;
    struct env_list base; /* what workers inherit, and what all of them are told */
    struct live_case *cases;
    struct ended_case ended[REMEMBERED];
    size_t ended_next;
    uv_timer_t flush_timer;
    bool is_paused;
};

static struct live_case *find_live(const struct supervisor *supervisor,
                                   const struct case_id *id)
{
    struct live_case *c = supervisor->cases;

    while (c && !case_id_equal(&c->id, id))
        c = c->next;
    return c;
}

/* The place of a case in `ended`; REMEMBERED if it is not there. */
static size_t find_ended(const struct supervisor *supervisor, const struct case_id *id)
{
    size_t i = 0;

    while (i < REMEMBERED && !case_id_equal(&supervisor->ended[i].id, id))
        i++;
    return i;
}

/* Its place in `ended`, taken from the oldest if it has none. */
static struct ended_case *remember(struct supervisor *supervisor,
                                   const struct case_id *id)
{
    size_t place = find_ended(supervisor, id);

    if (place == REMEMBERED) {
        place = supervisor->ended_next;
        supervisor->ended_next = (place + 1) % REMEMBERED;
    }
    supervisor->ended[place].id = *id;
    return &supervisor->ended[place];
}

/* Say that no worker of the case is left, and remember that it was here. */
static void end_case(struct supervisor *supervisor, const struct case_id *id,
                     const char *why)
{
    const struct supervisor_params *params = &supervisor->params;
    struct ended_case *ended = remember(supervisor, id);

    ended->gone_seq =
        outbox_add_steal(params->outbox, id, OUTBOX_NO_RANK,
                         json_pack("{s:s, s:s*}", "type", "gone", "reason", why));
    params->on_gone(params->arg, &ended->id, ended->gone_seq);
}

static void refuse(struct supervisor *supervisor, const struct case_id *id,
                   const char *reason)
{
    log_warn("run %s case %lld can't start here: %s", id->run, (long long)id->number,
             reason);
    outbox_add_steal(supervisor->params.outbox, id, OUTBOX_NO_RANK,
                     json_pack("{s:s, s:o}", "type", "refused", "reason",
                               clean_text_json(reason, strlen(reason))));
}

/* ---- one case ---- */

static void on_case_closed(uv_handle_t *handle)
{
    struct live_case *c = handle->data;

    assert(c->open_timers > 0);
    if (--c->open_timers == 0)
        free(c);
}

static void destroy_case(struct live_case *c)
{
    struct live_case **at = &c->supervisor->cases;

    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
    for (size_t i = 0; i < c->n_ranks; i++)
        rank_destroy(c->ranks[i]);
    free(c->ranks);
    process_tree_destroy(c->tree);
    launch_destroy(c->launch);
    conditions_destroy(c->conditions);
    bind_plan_release(&c->plan);
    case_files_remove(c->path);
    uv_close((uv_handle_t *)&c->kill_timer, on_case_closed);
    uv_close((uv_handle_t *)&c->limit_timer, on_case_closed);
    uv_close((uv_handle_t *)&c->start_timer, on_case_closed);
}

static void signal_case(struct live_case *c, int signum)
{
    for (size_t i = 0; i < c->n_ranks; i++)
        rank_signal(c->ranks[i], signum);
}

static void on_kill_timeout(uv_timer_t *timer)
{
    struct live_case *c = timer->data;

    log_warn("run %s case %lld: %zu workers ignore SIGTERM, killing them", c->id.run,
             (long long)c->id.number, c->n_alive);
    process_tree_end(c->tree);
}

static void terminate_case(struct live_case *c)
{
    assert(c->is_stopping);
    signal_case(c, SIGTERM);
    uv_timer_start(&c->kill_timer, on_kill_timeout, STOP_MS, 0);
}

static void end_asking(struct live_case *c)
{
    c->is_asking = false;
    terminate_case(c);
}

static void on_stacks_timeout(uv_timer_t *timer)
{
    end_asking(timer->data);
}

/* A rank has printed its stacks, or has ended. */
static void on_rank_stacks(void *arg)
{
    struct live_case *c = arg;

    if (!c->is_asking)
        return;
    for (size_t i = 0; i < c->n_ranks; i++)
        if (!rank_has_told_stacks(c->ranks[i]))
            return;
    c->is_asking = false;
    uv_timer_start(&c->kill_timer, on_stacks_timeout,
                   (size_t)c->world_size > c->n_ranks ? scaled_ms(PEERS_MS) : 0, 0);
}

static void tell_conditions(const struct live_case *c, json_t *event)
{
    if (event)
        outbox_add_steal(c->supervisor->params.outbox, &c->id, OUTBOX_NO_RANK, event);
}

/* Nothing of the case is left, and nothing will come. */
static void finish_case(struct live_case *c)
{
    struct supervisor *supervisor = c->supervisor;
    struct case_id id = c->id;

    assert(c->n_alive == 0);
    if (c->conditions)
        tell_conditions(c, conditions_last_event(c->conditions));
    case_files_send(supervisor->params.outbox, &id, c->path);
    destroy_case(c);
    end_case(supervisor, &id, NULL);
}

/* The workers have ended; what they started and left may not have. */
static void end_tree(struct live_case *c)
{
    if (c->has_tree_ended)
        finish_case(c);
    else
        process_tree_end(c->tree);
}

static void tell_left(const struct live_case *c, const char *left)
{
    char text[1200];

    snprintf(text, sizeof(text), "killed, but they do not die: %s", left);
    log_error("run %s case %lld: %s", c->id.run, (long long)c->id.number, text);
    outbox_add_steal(c->supervisor->params.outbox, &c->id, OUTBOX_NO_RANK,
                     json_pack("{s:s, s:s, s:o}", "type", "log", "level", "error", "text",
                               clean_text_json(text, strlen(text))));
}

static void on_tree_end(void *arg, const char *left)
{
    struct live_case *c = arg;

    if (left[0])
        tell_left(c, left);
    c->has_tree_ended = true;
    if (c->n_alive == 0)
        finish_case(c);
}

static void end_launch(struct live_case *c)
{
    uv_timer_stop(&c->start_timer);
    launch_destroy(c->launch);
    c->launch = NULL;
}

static void stop_case(struct live_case *c, bool wants_stacks)
{
    if (c->is_stopping)
        return;
    c->is_stopping = true;
    end_launch(c);
    if (c->n_alive == 0) {
        end_tree(c);
        return;
    }
    if (!wants_stacks) {
        terminate_case(c);
        return;
    }
    c->is_asking = true;
    for (size_t i = 0; i < c->n_ranks; i++)
        rank_ask_stacks(c->ranks[i]);
    uv_timer_start(&c->kill_timer, on_stacks_timeout, STACKS_MS, 0);
}

/* A program has run for as long as its administrator allows. */
static void on_limit(uv_timer_t *timer)
{
    struct live_case *c = timer->data;
    char text[80];

    snprintf(text, sizeof(text), "the program's time limit of %ld s is over", c->limit_s);
    for (size_t i = 0; i < c->n_ranks; i++)
        rank_fail(c->ranks[i], "timeout", text);
    stop_case(c, false);
}

static void on_rank_end(void *arg, struct rank *rank)
{
    struct live_case *c = arg;
    const struct process_usage *usage = rank_usage(rank);

    conditions_add_rank(c->conditions, usage->cpu_us, usage->involuntary);
    assert(c->n_alive > 0);
    if (--c->n_alive == 0 && !c->launch)
        end_tree(c);
}

static void on_rank_done(void *arg, const json_t *done)
{
    const struct live_case *c = arg;

    conditions_add_done(c->conditions, done);
}

static void flush_output(uv_timer_t *timer)
{
    const struct supervisor *supervisor = timer->data;

    for (struct live_case *c = supervisor->cases; c; c = c->next)
        for (size_t i = 0; i < c->n_ranks; i++)
            rank_flush(c->ranks[i]);
}

/* The timer runs only while output waits: a node that measures is not woken for nothing.
 */
static void on_rank_output(void *arg)
{
    const struct live_case *c = arg;
    uv_timer_t *timer = &c->supervisor->flush_timer;

    if (!uv_is_active((uv_handle_t *)timer))
        uv_timer_start(timer, flush_output, FLUSH_MS, 0);
}

static struct live_case *create_case(struct supervisor *supervisor,
                                     const struct command *command)
{
    struct live_case *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->ranks = calloc(command->n_ranks, sizeof(struct rank *));
    if (!c->ranks) {
        free(c);
        return NULL;
    }
    c->supervisor = supervisor;
    c->id = command->id;
    c->world_size = command->world_size;
    uv_timer_init(supervisor->params.loop, &c->kill_timer);
    uv_timer_init(supervisor->params.loop, &c->limit_timer);
    uv_timer_init(supervisor->params.loop, &c->start_timer);
    c->kill_timer.data = c;
    c->limit_timer.data = c;
    c->start_timer.data = c;
    c->open_timers = 3;
    c->next = supervisor->cases;
    supervisor->cases = c;
    return c;
}

/* ---- starting ---- */

/* Start ranks for a while; -1: one can't be started. */
static int start_some(struct live_case *c, struct error *err)
{
    uint64_t begun = uv_hrtime();

    while (launch_left(c->launch) > 0 && uv_hrtime() - begun < START_NS) {
        struct rank *rank = launch_next(c->launch, &c->plan, err);

        if (!rank)
            return -1;
        c->ranks[c->n_ranks++] = rank;
        c->n_alive++;
        if (c->supervisor->is_paused)
            rank_pause(rank);
    }
    return 0;
}

/* All ranks that there are to be have been started. */
static void on_all_started(struct live_case *c)
{
    end_launch(c);
    log_info("run %s case %lld: %zu workers started", c->id.run, (long long)c->id.number,
             c->n_ranks);
    if (c->limit_s)
        uv_timer_start(&c->limit_timer, on_limit, scaled_ms((uint64_t)c->limit_s * 1000),
                       0);
    if (c->n_alive == 0)
        end_tree(c);
}

/* Decide where its ranks run, and look at the machine before they do. Programs place
 * themselves. */
static int settle_conditions(struct live_case *c, const struct command *command,
                             struct error *err)
{
    const struct supervisor_params *params = &c->supervisor->params;
    bool is_program = json_is_object(json_object_get(command->spec, "program"));
    size_t n_live = supervisor_live(c->supervisor) - 1;
    bool is_alone = n_live == 0 && command->agents_here <= 1;

    if (!is_program &&
        binder_plan(params->binder, command, params->inventory, n_live, &c->plan, err))
        return -1;
    c->conditions = conditions_begin(
        binder_cpus(&c->plan), is_program ? NULL : bind_plan_json(&c->plan), is_alone);
    if (!c->conditions)
        return error_set(err, ERROR_MEMORY, "out of memory");
    tell_conditions(c, conditions_first_event(c->conditions));
    return 0;
}

/* A GPU that a process is stuck with is no GPU to measure on. */
static int check_lingering(const struct live_case *c, const struct command *command,
                           struct error *err)
{
    const struct supervisor_params *params = &c->supervisor->params;
    char text[400];

    if (strcmp(command->backend, "nccl") != 0 ||
        !process_table_lingers(params->processes, text, sizeof(text)))
        return 0;
    return error_set(err, ERROR_UNAVAILABLE, SUPERVISOR_HELD, text);
}

static void on_start(uv_timer_t *timer);

/* The next batch of ranks; the rest when the loop has been round. */
static void go_on_starting(struct live_case *c)
{
    struct error err;

    if (start_some(c, &err)) {
        refuse(c->supervisor, &c->id, err.text);
        stop_case(c, false);
    } else if (launch_left(c->launch) > 0) {
        /* Due at once it would run before any I/O, again and again. */
        uv_timer_start(&c->start_timer, on_start, 1, 0);
    } else {
        on_all_started(c);
    }
}

static void on_start(uv_timer_t *timer)
{
    go_on_starting(timer->data);
}

void supervisor_start(struct supervisor *supervisor, const struct command *command)
{
    const struct case_id *id = &command->id;
    struct live_case *c;
    struct error err;

    if (find_live(supervisor, id) || find_ended(supervisor, id) < REMEMBERED)
        return;
    if (command->fault.code != ERROR_NONE) {
        refuse(supervisor, id, command->fault.text);
        end_case(supervisor, id, NULL);
        return;
    }
    c = create_case(supervisor, command);
    if (!c) {
        refuse(supervisor, id, "out of memory");
        end_case(supervisor, id, NULL);
        return;
    }
    c->tree = process_tree_create(supervisor->params.processes, on_tree_end, c, &err);
    struct rank_params ends = {.tree = c->tree,
                               .id = &c->id,
                               .on_end = on_rank_end,
                               .on_done = on_rank_done,
                               .on_output = on_rank_output,
                               .on_stacks = on_rank_stacks,
                               .arg = c};
    if (c->tree)
        c->launch = launch_create(&supervisor->params, &supervisor->base, command, &ends,
                                  c->path, &c->limit_s, &err);
    if (!c->launch || check_lingering(c, command, &err) ||
        settle_conditions(c, command, &err)) {
        refuse(supervisor, id, err.text);
        finish_case(c);
        return;
    }
    go_on_starting(c);
}

void supervisor_stop(struct supervisor *supervisor, const struct case_id *id,
                     bool wants_stacks)
{
    struct live_case *c = find_live(supervisor, id);
    size_t place;

    if (c) {
        stop_case(c, wants_stacks);
        return;
    }
    place = find_ended(supervisor, id);
    /* Its `gone` is on the way already. */
    if (place < REMEMBERED &&
        supervisor->ended[place].gone_seq > outbox_acked(supervisor->params.outbox))
        return;
    end_case(supervisor, id, NULL);
}

void supervisor_stop_all(struct supervisor *supervisor)
{
    for (struct live_case *c = supervisor->cases; c; c = c->next)
        stop_case(c, false);
}

void supervisor_adopt(struct supervisor *supervisor, const struct case_id *id)
{
    remember(supervisor, id)->gone_seq = GONE_TO_COME;
}

void supervisor_bury(struct supervisor *supervisor)
{
    for (size_t i = 0; i < REMEMBERED; i++) {
        struct case_id id = supervisor->ended[i].id;

        if (supervisor->ended[i].gone_seq == GONE_TO_COME)
            end_case(supervisor, &id, "its agent was killed and started again");
    }
}

size_t supervisor_live(const struct supervisor *supervisor)
{
    size_t n = 0;

    for (const struct live_case *c = supervisor->cases; c; c = c->next)
        n++;
    return n;
}

static json_t *add_case(json_t *array, const struct case_id *id)
{
    json_t *one = json_pack("{s:s, s:I, s:I}", "run", id->run, "case",
                            (json_int_t)id->number, "attempt", (json_int_t)id->attempt);

    json_array_append_new(array, one);
    return one;
}

json_t *supervisor_cases(const struct supervisor *supervisor)
{
    uint64_t acked = outbox_acked(supervisor->params.outbox);
    json_t *array = json_array();

    for (const struct live_case *c = supervisor->cases; c; c = c->next)
        add_case(array, &c->id);
    for (size_t i = 0; i < REMEMBERED; i++) {
        const struct ended_case *ended = &supervisor->ended[i];
        json_t *one;

        if (ended->gone_seq <= acked || find_live(supervisor, &ended->id))
            continue;
        one = add_case(array, &ended->id);
        if (ended->gone_seq != GONE_TO_COME)
            json_object_set_new(one, "gone", json_integer((json_int_t)ended->gone_seq));
    }
    return array;
}

static void for_each_rank(struct supervisor *supervisor, void (*fn)(struct rank *rank))
{
    for (struct live_case *c = supervisor->cases; c; c = c->next)
        for (size_t i = 0; i < c->n_ranks; i++)
            fn(c->ranks[i]);
}

void supervisor_pause(struct supervisor *supervisor)
{
    supervisor->is_paused = true;
    for_each_rank(supervisor, rank_pause);
}

void supervisor_resume(struct supervisor *supervisor)
{
    supervisor->is_paused = false;
    for_each_rank(supervisor, rank_resume);
}

void supervisor_forget(struct supervisor *supervisor)
{
    memset(supervisor->ended, 0, sizeof(supervisor->ended));
}

int supervisor_set_address(struct supervisor *supervisor, const char *address)
{
    return env_list_set(&supervisor->base, "RINGBENCH_ADDRESS", address);
}

static void on_flush_closed(uv_handle_t *handle)
{
    free(handle->data);
}

struct supervisor *supervisor_create(const struct supervisor_params *params,
                                     struct error *err)
{
    struct supervisor *supervisor = calloc(1, sizeof(*supervisor));

    if (!supervisor || env_list_copy(&supervisor->base, params->environment->items) ||
        env_list_set(&supervisor->base, "RINGBENCH_NODE", params->node)) {
        if (supervisor)
            env_list_release(&supervisor->base);
        free(supervisor);
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    supervisor->params = *params;
    uv_timer_init(params->loop, &supervisor->flush_timer);
    supervisor->flush_timer.data = supervisor;
    return supervisor;
}

void supervisor_destroy(struct supervisor *supervisor)
{
    if (!supervisor)
        return;
    while (supervisor->cases)
        destroy_case(supervisor->cases);
    env_list_release(&supervisor->base);
    uv_close((uv_handle_t *)&supervisor->flush_timer, on_flush_closed);
}
