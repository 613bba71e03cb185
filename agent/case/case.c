/* SPDX-License-Identifier: Apache-2.0 */
/* case.c - runs the ranks of one case on this node */
#include "agent/case/case.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "agent/case/launch.h"
#include "agent/machine/conditions.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"

#define STOP_MS 5000   /* time from SIGTERM to SIGKILL */
#define STACKS_MS 3000 /* time for printing stacks before SIGTERM */
/* extra time for other nodes to print stacks: once our ranks exit, theirs exit too */
#define PEERS_MS 500
#define FLUSH_MS 100      /* output waits this long for more output */
#define START_NS 10000000 /* time for starting ranks before the loop runs again */

struct running_case {
    struct event_stream *out;
    struct process_tree *tree;
    struct launch *launch;
    struct conditions *conditions; /* NULL: not requested, or not yet started */
    const char *name;              /* NULL: a probe */
    struct rank **ranks;
    size_t n_ranks, n_alive;
    long limit_s; /* time limit of a program; 0: none */
    uv_timer_t stop_timer, limit_timer, start_timer, flush_timer;
    bool has_peers, is_paused;
    bool is_starting; /* ranks are still to be started */
    bool is_stopping;
    bool is_collecting_stacks; /* before SIGTERM */
    bool has_tree_ended;
};

static void emit(struct running_case *c, json_t *event)
{
    event_stream_add(c->out, EVENT_OTHER, CASE_NO_RANK, event);
}

static const char *name_of(const struct running_case *c)
{
    return c->name ? c->name : "probe";
}

/* ---- the end ---- */

/* All processes of the case have ended, and all output of its ranks is read. */
static void finish(struct running_case *c)
{
    assert(c->n_alive == 0 && c->has_tree_ended);
    c->is_stopping = true; /* makes a later stop do nothing */
    if (c->conditions)
        emit(c, conditions_last_event(c->conditions));
    if (c->launch)
        launch_send_artifacts(c->launch);
    event_stream_end(c->out);
}

/* The ranks have ended, but processes that they started may still run. */
static void end_tree(struct running_case *c)
{
    uv_timer_stop(&c->stop_timer);
    uv_timer_stop(&c->limit_timer);
    if (c->has_tree_ended)
        finish(c);
    else
        process_tree_end(c->tree);
}

void case_on_tree_end(void *arg, const char *left)
{
    struct running_case *c = arg;

    if (left[0])
        event_stream_text(c->out, EVENT_LEFT, left);
    c->has_tree_ended = true;
    if (c->out->is_broken)
        event_stream_end(c->out);
    else if (c->n_alive == 0)
        finish(c);
}

void case_abandon(struct running_case *c, struct process_tree *tree)
{
    c->is_stopping = true;
    c->is_starting = false;
    uv_timer_stop(&c->start_timer);
    if (c->has_tree_ended)
        event_stream_end(c->out);
    else
        process_tree_end(tree);
}

/* ---- stopping ---- */

static void on_kill_timeout(uv_timer_t *timer)
{
    struct running_case *c = timer->data;

    log_warn("%s: %zu ranks did not exit within %d s of SIGTERM: killing them",
             name_of(c), c->n_alive, STOP_MS / 1000);
    process_tree_end(c->tree);
}

static void terminate(struct running_case *c)
{
    c->is_collecting_stacks = false;
    for (size_t i = 0; i < c->n_ranks; i++)
        rank_signal(c->ranks[i], SIGTERM);
    uv_timer_start(&c->stop_timer, on_kill_timeout, STOP_MS, 0);
}

static void on_stacks_timeout(uv_timer_t *timer)
{
    terminate(timer->data);
}

static void on_rank_stacks(void *arg)
{
    struct running_case *c = arg;

    if (!c->is_collecting_stacks)
        return;
    for (size_t i = 0; i < c->n_ranks; i++)
        if (!rank_has_sent_stacks(c->ranks[i]))
            return;
    c->is_collecting_stacks = false;
    uv_timer_start(&c->stop_timer, on_stacks_timeout,
                   c->has_peers ? scaled_ms(PEERS_MS) : 0, 0);
}

void case_stop(struct running_case *c, bool with_stacks)
{
    if (c->is_stopping)
        return;
    c->is_stopping = true;
    c->is_starting = false;
    uv_timer_stop(&c->start_timer);
    if (c->n_alive == 0) {
        end_tree(c);
    } else if (with_stacks) {
        c->is_collecting_stacks = true;
        for (size_t i = 0; i < c->n_ranks; i++)
            rank_ask_stacks(c->ranks[i]);
        uv_timer_start(&c->stop_timer, on_stacks_timeout, STACKS_MS, 0);
    } else {
        terminate(c);
    }
}

static void on_limit(uv_timer_t *timer)
{
    struct running_case *c = timer->data;
    char text[80];

    snprintf(text, sizeof(text), "the program exceeded its time limit of %ld s",
             c->limit_s);
    for (size_t i = 0; i < c->n_ranks; i++)
        rank_fail(c->ranks[i], "timeout", text);
    case_stop(c, false);
}

/* ---- while ranks run ---- */

static void on_rank_end(void *arg, struct rank *rank)
{
    struct running_case *c = arg;
    const struct process_usage *usage = rank_usage(rank);

    if (c->conditions)
        conditions_add_rank(c->conditions, usage->cpu_us, usage->involuntary);
    assert(c->n_alive > 0);
    if (--c->n_alive == 0 && !c->is_starting)
        end_tree(c);
}

static void on_rank_done(void *arg, const json_t *done)
{
    const struct running_case *c = arg;

    if (c->conditions)
        conditions_add_done(c->conditions, done);
}

static void flush_output(uv_timer_t *timer)
{
    const struct running_case *c = timer->data;

    for (size_t i = 0; i < c->n_ranks; i++)
        rank_flush(c->ranks[i]);
}

/* The timer runs only while output waits, so that it does not disturb a measurement. */
static void on_rank_output(void *arg)
{
    struct running_case *c = arg;

    if (!uv_is_active((const uv_handle_t *)&c->flush_timer))
        uv_timer_start(&c->flush_timer, flush_output, FLUSH_MS, 0);
}

void case_pause(struct running_case *c, bool is_paused)
{
    c->is_paused = is_paused;
    for (size_t i = 0; i < c->n_ranks; i++)
        if (is_paused)
            rank_pause(c->ranks[i]);
        else
            rank_resume(c->ranks[i]);
}

/* ---- starting ---- */

static void refuse(struct running_case *c, const char *reason)
{
    if (c->name)
        log_warn("%s cannot start: %s", c->name, reason);
    emit(c, json_pack("{s:s, s:o}", "type", "refused", "reason",
                      clean_text_json(reason, strlen(reason))));
    case_stop(c, false);
}

static void on_all_started(struct running_case *c)
{
    c->is_starting = false;
    if (c->name)
        log_info("%s: %zu ranks started", c->name, c->n_ranks);
    if (c->limit_s)
        uv_timer_start(&c->limit_timer, on_limit, scaled_ms((uint64_t)c->limit_s * 1000),
                       0);
    if (c->n_alive == 0)
        end_tree(c);
}

/* Start ranks for START_NS, then let the loop run before the rest. */
static void start_some(uv_timer_t *timer)
{
    struct running_case *c = timer->data;
    uint64_t begun = uv_hrtime();
    struct error err;

    while (launch_left(c->launch) > 0 && uv_hrtime() - begun < START_NS) {
        struct rank *rank = launch_next(c->launch, &err);

        if (!rank) {
            refuse(c, err.text);
            return;
        }
        c->ranks[c->n_ranks++] = rank;
        c->n_alive++;
        if (c->is_paused)
            rank_pause(rank);
    }
    if (launch_left(c->launch) == 0)
        on_all_started(c);
    else /* With a delay of 0 the timer would run again before any I/O. */
        uv_timer_start(&c->start_timer, start_some, 1, 0);
}

void case_begin(struct running_case *c, struct process_tree *tree, json_t *document)
{
    const struct rank_params ends = {.tree = tree,
                                     .out = c->out,
                                     .on_end = on_rank_end,
                                     .on_done = on_rank_done,
                                     .on_output = on_rank_output,
                                     .on_stacks = on_rank_stacks,
                                     .arg = c};
    json_t *conditions = json_object_get(document, "conditions");
    struct error err;

    c->tree = tree;
    c->name = json_get_str(document, "name", NULL);
    c->has_peers = json_get_bool(document, "has_peers", false);
    c->limit_s = (long)json_get_int(json_object_get(document, "program"), "timeout_s", 0);
    c->launch = launch_create(document, &ends, &err);
    if (!c->launch) {
        refuse(c, err.text);
        return;
    }
    if (conditions) {
        c->conditions = conditions_begin(json_get_str(conditions, "cpus", ""),
                                         json_object_get(conditions, "bind"),
                                         json_get_bool(conditions, "is_alone", false));
        emit(c, conditions_first_event(c->conditions));
    }
    c->ranks = memory_zeroed(launch_total(c->launch) + 1, sizeof(struct rank *), "ranks");
    c->is_starting = true;
    start_some(&c->start_timer);
}

struct running_case *case_create(uv_loop_t *loop, struct event_stream *out)
{
    struct running_case *c = memory_zeroed(1, sizeof(*c), "a case");
    uv_timer_t *timers[] = {&c->stop_timer, &c->limit_timer, &c->start_timer,
                            &c->flush_timer};

    c->out = out;
    for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        uv_timer_init(loop, timers[i]);
        timers[i]->data = c;
    }
    return c;
}
