/* SPDX-License-Identifier: Apache-2.0 */
/* watches.c - specs that the server runs by itself, again and again */
#include "server/watches/watches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"
#include "server/launch/jobs.h"
#include "server/runs/scheduler.h"
#include "server/store/run_packed.h"
#include "server/store/store_work.h"
#include "server/watches/actions.h"
#include "server/watches/hook_runner.h"
#include "server/watches/standing.h"
#include "server/watches/sweep.h"
#include "server/watches/watch_json.h"

#define TICK_MS scaled_ms(500)
#define SKIPPED_MAX 1000 /* due times that are counted */

/* A batch waits for the last of its nodes an eighth of the time to the next sweep, but no
 * longer than an hour. */
#define SPLIT_AFTER 8
#define SPLIT_MOST_MS 3600000

/* When the server has started, nodes get so long to register again. */
#define START_MS scaled_ms(10000)

struct watch {
    TAILQ_ENTRY(watch) entry;
    struct watches *watches;
    char id[ID_RUN_LENGTH + 1];
    json_t *doc; /* sweep.h; the store has it */
    struct watch_request request;
    bool is_awaiting;            /* an answer of the store is on its way: */
    bool is_gone;                /* deleted: that answer frees it */
    char run[ID_RUN_LENGTH + 1]; /* that is being posted, or whose end is being read: */
    json_t *ended;               /* its document, or NULL */
};

struct watches {
    struct watches_config config;
    json_t *nodes;    /* by name: standing.h; the store has them */
    json_t *suspects; /* by name, of these */
    struct hook_runner *hooks;
    uv_loop_t *loop;
    TAILQ_HEAD(, watch) list;
    size_t n;
    uv_timer_t timer;
    bool is_closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* By which watches are due. In test builds (time_scale.h) it is ahead by the milliseconds
 * in the file that RINGBENCH_WATCH_CLOCK names, which is read at each look. */
static int64_t now_ms(void)
{
    int64_t now = clock_wall_ms();

#ifdef RINGBENCH_TIME_SCALE
    const char *path = getenv("RINGBENCH_WATCH_CLOCK");
    FILE *file = path ? fopen(path, "re") : NULL;
    long long ahead = 0;

    if (file && fscanf(file, "%lld", &ahead) == 1)
        now += ahead;
    if (file)
        fclose(file);
#endif
    return now;
}

static void watch_free(struct watch *watch)
{
    watch_request_release(&watch->request);
    json_decref(watch->ended);
    json_decref(watch->doc);
    free(watch);
}

static void put_row(const struct watch *watch, struct store_write *write)
{
    store_write_watched(write, "watch", watch->id, watch->doc);
}

/* Have an answer of the store for which it is_awaiting; false: do nothing. */
static bool end_await(struct watch *watch)
{
    watch->is_awaiting = false;
    if (watch->is_gone)
        watch_free(watch);
    else if (!watch->watches->is_closing)
        return true;
    return false;
}

/* The names of its nodes, a new array. */
static json_t *nodes_of(const struct watch *watch)
{
    return watch_request_nodes(&watch->request,
                               scheduler_nodes(watch->watches->config.scheduler));
}

static struct watch *find(const struct watches *watches, const char *id)
{
    struct watch *watch;

    TAILQ_FOREACH (watch, &watches->list, entry)
        if (strcmp(watch->id, id) == 0)
            return watch;
    return NULL;
}

/* Store what is known of the node, or forget it when that is nothing. */
static void put_node(struct watches *watches, const char *name, struct store_write *write)
{
    json_t *node = json_object_get(watches->nodes, name);
    bool is_clean = standing_is_clean(node);

    if (!node)
        return;
    if (standing_is_suspect(node))
        json_object_set(watches->suspects, name, node);
    else if (json_object_del(watches->suspects, name) == 0)
        scheduler_set_suspects(watches->config.scheduler, watches->suspects);
    store_write_watched(write, "node", name, is_clean ? NULL : node);
    if (is_clean)
        json_object_del(watches->nodes, name);
}

static void put_nodes(struct watches *watches, const json_t *names,
                      struct store_write *write)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        put_node(watches, json_string_value(json_array_get(names, i)), write);
}

/* ---- Hooks ---- */

/* watch: NULL if it is gone. */
static struct actions actions_of(const struct watches *watches, const struct watch *watch)
{
    return (struct actions){.watch = watch ? watch->doc : NULL,
                            .hooks = hook_runner_hooks(watches->hooks),
                            .standings = watches->nodes,
                            .may_act = watch && watch->request.mode == WATCH_ACT,
                            .now_ms = now_ms()};
}

static void on_hook_ended(void *arg, const char *id, json_t *action, const char *state,
                          const char *output)
{
    struct watches *watches = arg;
    struct watch *watch = find(watches, id);
    const struct actions on = actions_of(watches, watch);
    struct store_write *write = store_write_create();

    log_info("watch %s: hook %s: %s: %s", id, json_get_str(action, "hook", ""), state,
             output);
    actions_end(&on, action, state, output);
    put_nodes(watches, json_object_get(action, "nodes"), write);
    if (watch)
        put_row(watch, write);
    store_submit(watches->config.store, write, true, NULL, NULL);
}

static void on_acted(void *arg, const struct error *err, const struct store_event *events,
                     size_t n_events)
{
    struct watch *watch = arg;

    (void)events;
    (void)n_events;
    if (end_await(watch) && !err)
        hook_runner_start(watch->watches->hooks, watch->doc,
                          (int64_t)uv_now(watch->watches->loop));
}

/* Submit the write (taken) with the watch's row, and run the hooks that are due then. */
static void keep(struct watch *watch, struct store_write *write)
{
    put_row(watch, write);
    watch->is_awaiting = true;
    store_submit(watch->watches->config.store, write, true, on_acted, watch);
}

/* ---- Posting a run ---- */

static void on_posted(void *arg, const struct error *err, const char *run)
{
    struct watch *watch = arg;
    size_t batch;

    if (err && !watch->is_gone && sweep_run(watch->doc, &batch)) {
        log_warn("watch %s: its run can't be stored and is posted again: %s", watch->id,
                 err->text);
        sweep_take_run(watch->doc, batch, NULL);
    }
    if (!err && watch->is_gone) {
        struct error ignored;

        scheduler_cancel(watch->watches->config.scheduler, run, &ignored);
    }
    end_await(watch);
}

/* The spec of the batch's next run; a new object. Pairs tell whether a node is slow yet.
 * A run over all nodes would only say so if it is far from those before, and become one
 * of them if it is not. */
static json_t *next_spec(const struct watch *watch, const json_t *batch)
{
    json_t *nodes = json_object_get(batch, "nodes");
    json_t *spec = json_copy(json_object_get(batch, "spec"));

    if (!spec && standing_any_is_open(watch->watches->nodes, nodes))
        spec = watch_request_pairs(&watch->request, nodes);
    if (!spec)
        spec = watch_request_spec(&watch->request, nodes);
    watch_request_mark(spec, watch->id);
    return spec;
}

/* Post the batch's next run, durable with the row that says so. */
static void post(struct watch *watch, size_t i)
{
    const struct watches_config *config = &watch->watches->config;
    const json_t *batch = sweep_batch(watch->doc, i);
    json_t *body = next_spec(watch, batch);
    struct store_write *write;
    struct problems problems;
    struct run_spec *spec;
    struct error err;

    problems_init(&problems);
    spec = run_spec_parse(body, &problems);
    json_decref(body);
    if (spec)
        jobs_check(config->jobs, spec, &problems);
    if (problems.count > 0) {
        problems_error(&problems, "its run is refused", &err);
        sweep_give_up(watch->doc, i, err.text);
        keep(watch, store_write_create());
        run_spec_destroy(spec);
    } else {
        jobs_assign(config->jobs, spec, json_get_str(batch, "group", NULL));
        id_run(watch->run);
        sweep_take_run(watch->doc, i, watch->run);
        write = store_write_create();
        put_row(watch, write);
        watch->is_awaiting = true;
        scheduler_submit_with(config->scheduler, spec, watch->run, write, on_posted,
                              watch);
    }
    problems_release(&problems);
}

static bool is_node_idle(void *arg, const char *name)
{
    const struct node *node = node_find(arg, name);

    return node && node->state == NODE_ALIVE && !node->leaving &&
           node_is_free(node, false);
}

/* ---- What a run says ---- */

/* nodes: an array of names; none, no event. */
static void fire(struct watch *watch, const struct action_event *event,
                 struct store_write *write)
{
    const struct actions on = actions_of(watch->watches, watch);

    if (json_array_size(event->nodes) == 0)
        return;
    actions_add(&on, event);
    put_nodes(watch->watches, event->nodes, write);
}

/* What tells a node's machine from another one, and from itself before it was started
 * anew: its boot id; of one that reports none the agent's. */
static const char *identity_of(const struct watches *watches, const char *name)
{
    const struct node *node = node_find(scheduler_nodes(watches->config.scheduler), name);

    return node ? json_get_str(node->inventory, "hostid", node->boot_id) : "";
}

/* A single slow node may become a suspect; of a link or a rack nobody knows which one is.
 */
static enum standing_news judge_node(struct watch *watch, const json_t *run,
                                     const struct chain_step *step, const char *name)
{
    struct watches *watches = watch->watches;
    bool is_named =
        step->answer == VERDICT_SLOW_NODE && json_has_string(step->named, name);
    json_t *node = json_object_get(watches->nodes, name);
    const char *by = json_get_str(node, "watch", watch->id);
    enum standing_news news;

    /* Another watch measures something else: its pass says nothing about a suspect. */
    if (!is_named && (!node || (strcmp(by, watch->id) != 0 && find(watches, by))))
        return STANDING_SAME;
    node = standing_of(watches->nodes, name);
    news = standing_take(node, watch->id, json_get_str(run, "id", ""), step->sentence,
                         is_named, identity_of(watches, name), now_ms());
    if (news == STANDING_CLEARED && !json_get_bool(node, "changed", false))
        sweep_count(watch->doc, "passed_suspects", 1);
    return news;
}

static json_t *names_of(const json_t *run)
{
    json_t *names = json_array(), *node;
    size_t i;

    json_array_foreach (json_object_get(run, "nodes"), i, node)
        json_array_append(names, json_object_get(node, "name"));
    return names;
}

/* The nodes' standings, and the hooks of those that became suspects or were cleared. */
static void judge_nodes(struct watch *watch, const json_t *run, json_t *names,
                        const struct chain_step *step, struct store_write *write)
{
    struct action_event events[] = {
        {.event = "culprit"}, {.event = "recovered"}, {"recovered", .is_again = true}};
    json_t *name;
    size_t i, k;

    for (k = 0; k < 3; k++) {
        events[k].nodes = json_array();
        events[k].run = json_get_str(run, "id", "");
        events[k].sentence = step->sentence;
    }
    json_array_foreach (names, i, name) {
        const char *text = json_string_value(name);
        enum standing_news news = judge_node(watch, run, step, text);
        const json_t *node = json_object_get(watch->watches->nodes, text);

        if (news != STANDING_SAME)
            json_array_append(events[news == STANDING_CLEARED].nodes, name);
        else if (standing_is_held(node) && !standing_is_open(node))
            json_array_append(events[2].nodes, name);
    }
    for (k = 0; k < 3; k++) {
        fire(watch, &events[k], write);
        json_decref(events[k].nodes);
    }
    put_nodes(watch->watches, names, write);
}

static void take_end(struct watch *watch, const json_t *run)
{
    json_t *names = names_of(run);
    struct store_write *write = store_write_create();
    struct chain_step step;

    chain_judge(run, json_get_str(watch->doc, "lasting", NULL), &step);
    if (step.lasting)
        json_object_set_new(watch->doc, "lasting", json_string(step.lasting));
    if (step.has_judged)
        judge_nodes(watch, run, names, &step, write);
    if (sweep_take_end(watch->doc, run, &step, now_ms()))
        fire(watch,
             &(struct action_event){"fail", step.named ? step.named : names,
                                    json_get_str(run, "id", ""), step.sentence, false},
             write);
    keep(watch, write);
    json_decref(names);
}

static int read_run(sqlite3 *db, void *arg, struct error *err)
{
    struct watch *watch = arg;

    watch->ended = store_get_run(db, watch->run, err);
    return watch->ended ? 0 : -1;
}

/* Until the end is on disk, the next tick reads it again. */
static void on_read(void *arg, const struct error *err)
{
    struct watch *watch = arg;
    json_t *run = watch->ended ? run_unpack(watch->ended) : NULL;
    size_t batch;

    watch->ended = NULL;
    if (end_await(watch)) {
        if (json_is_string(json_object_get(run, "ended"))) {
            take_end(watch, run);
        } else if (err && err->code == ERROR_NOT_FOUND && sweep_run(watch->doc, &batch)) {
            sweep_give_up(watch->doc, batch, "its run was deleted");
            keep(watch, store_write_create());
        }
    }
    json_decref(run);
}

/* ---- Due times ---- */

/* Times that passed while no server ran are counted, and made up by this one sweep. It is
 * made of the nodes that are there; without nodes it waits for some. only: just the group
 * with this node, or NULL. */
static void begin_sweep(struct watch *watch, int64_t due_ms, int64_t at_ms,
                        const char *only)
{
    const struct calendar *calendar = &watch->request.calendar;
    json_t *names = nodes_of(watch);
    json_t *groups = sweep_divide(names, (size_t)watch->request.nodes_at_once);

    for (size_t i = json_array_size(groups); only && i-- > 0;)
        if (!json_has_string(json_array_get(groups, i), only))
            json_array_remove(groups, i);
    if (json_array_size(groups) > 0 &&
        (json_array_size(names) > 0 || json_object_get(watch->request.spec, "launch"))) {
        sweep_begin(watch->doc, groups, due_ms,
                    calendar_count(calendar, due_ms, at_ms, SKIPPED_MAX), at_ms);
        if (!only)
            json_set_time(watch->doc, "next", calendar_next(calendar, at_ms));
        keep(watch, store_write_create());
    } else {
        json_decref(groups);
    }
    json_decref(names);
}

/* Of nodes that became stale since the sweep before. */
static void tell_stale(struct watch *watch, int64_t at_ms, struct store_write *write)
{
    int64_t since_ms =
        at_ms - WATCH_STALE_AFTER * calendar_horizon_ms(&watch->request.calendar);
    json_t *names = nodes_of(watch), *fresh = json_array(), *stale, *name;
    char since[CLOCK_TEXT_MAX];
    size_t i;

    stale = sweep_stale(watch->doc, names, clock_format_ms(since_ms, since),
                        json_get_str(watch->doc, "created", ""));
    json_array_foreach (stale, i, name)
        if (!json_has_string(json_object_get(watch->doc, "stale"),
                             json_string_value(name)))
            json_array_append(fresh, name);
    json_object_set_new(watch->doc, "stale", stale);
    fire(watch,
         &(struct action_event){"stale", fresh, "",
                                "not measured for two periods of the watch", false},
         write);
    json_decref(fresh);
    json_decref(names);
}

static void end_sweep(struct watch *watch, int64_t at_ms)
{
    struct store_write *write = store_write_create();
    const json_t *closed = sweep_close(watch->doc, at_ms);
    const json_t *verdict = json_object_get(closed, "verdict");

    log_info("watch %s (%s): %s: %s", watch->id, watch->request.name,
             json_get_str(verdict, "answer", ""), json_get_str(verdict, "sentence", ""));
    tell_stale(watch, at_ms, write);
    keep(watch, write);
}

static bool is_paused(const struct watch *watch)
{
    return json_is_null(json_object_get(watch->doc, "next"));
}

static bool is_due(const struct watch *watch, int64_t at_ms)
{
    return !is_paused(watch) && at_ms >= json_get_time(watch->doc, "next");
}

/* Long enough for a batch that lacks some of its nodes. */
static bool has_waited(const struct watch *watch, int64_t at_ms)
{
    int64_t least_ms = calendar_horizon_ms(&watch->request.calendar) / SPLIT_AFTER;
    int64_t begun_ms = json_get_time(json_object_get(watch->doc, "sweep"), "begun");

    return at_ms - begun_ms >= (least_ms < SPLIT_MOST_MS ? least_ms : SPLIT_MOST_MS);
}

static void tick_sweep(struct watch *watch, int64_t at_ms)
{
    sweep_is_ready *is_ready = watch->request.idle_only ? is_node_idle : NULL;
    void *arg = (void *)(uintptr_t)scheduler_nodes(watch->watches->config.scheduler);
    bool is_open = calendar_is_open(&watch->request.calendar, at_ms);
    bool is_late = is_paused(watch) || is_due(watch, at_ms) || !is_open;
    size_t batch;
    const char *run = sweep_run(watch->doc, &batch);

    if (run) {
        if (scheduler_run_is_active(watch->watches->config.scheduler, run))
            return;
        snprintf(watch->run, sizeof(watch->run), "%s", run);
        watch->is_awaiting = true;
        store_do_on(watch->watches->config.store, STORE_KEYED, read_run, on_read, watch);
        return;
    }
    if (is_ready && !is_late && has_waited(watch, at_ms))
        sweep_split(watch->doc, is_ready, arg);
    batch = sweep_find_ready(watch->doc, is_ready, arg);
    /* What is slow is followed up, whatever the time. */
    if (batch != SWEEP_ALL &&
        (!is_late || json_object_get(sweep_batch(watch->doc, batch), "spec")))
        post(watch, batch);
    else if (sweep_is_over(watch->doc) || is_late)
        end_sweep(watch, at_ms);
}

/* ---- Suspects that came back ---- */

/* One whose machine was started anew or replaced is measured at once by the watch that
 * named it, unless that measures already. */
static void tick_suspect(struct watches *watches, json_t *node, int64_t at_ms)
{
    const char *name = json_get_str(node, "node", "");
    const char *identity = identity_of(watches, name);
    struct watch *watch = find(watches, json_get_str(node, "watch", ""));
    struct store_write *write;

    if (!*identity || strcmp(identity, json_get_str(node, "identity", "")) == 0 ||
        (watch &&
         (watch->is_awaiting || json_is_object(json_object_get(watch->doc, "sweep")))))
        return;
    json_object_set_new(node, "identity", json_string(identity));
    json_object_set_new(node, "changed", json_true());
    if (watch && !is_paused(watch) && calendar_is_open(&watch->request.calendar, at_ms))
        begin_sweep(watch, at_ms, at_ms, name);
    write = store_write_create();
    store_write_watched(write, "node", name, node);
    store_submit(watches->config.store, write, true, NULL, NULL);
}

static void on_tick(uv_timer_t *timer)
{
    struct watches *watches = timer->data;
    int64_t at_ms = now_ms(), next_ms;
    struct watch *watch;
    struct actions on;
    const char *name;
    json_t *node;

    hook_runner_tick(watches->hooks, (int64_t)uv_now(watches->loop));
    if (!store_takes_writes(watches->config.store))
        return;
    json_object_foreach (watches->suspects, name, node)
        tick_suspect(watches, node, at_ms);
    TAILQ_FOREACH (watch, &watches->list, entry) {
        if (watch->is_awaiting)
            continue;
        /* If the clock was set back, the stored time is too far ahead. */
        next_ms = calendar_next(&watch->request.calendar, at_ms);
        if (json_get_time(watch->doc, "next") > next_ms)
            json_set_time(watch->doc, "next", next_ms);
        on = actions_of(watches, watch);
        if (on.may_act && actions_retry(&on))
            keep(watch, store_write_create());
        else if (json_is_object(json_object_get(watch->doc, "sweep")))
            tick_sweep(watch, at_ms);
        else if (is_due(watch, at_ms) &&
                 calendar_is_open(&watch->request.calendar, at_ms))
            begin_sweep(watch, json_get_time(watch->doc, "next"), at_ms, NULL);
    }
}

/* ---- The list ---- */

/* doc is taken. */
static struct watch *add(struct watches *watches, json_t *doc)
{
    struct watch *watch = memory_zeroed(1, sizeof(*watch), "a watch");
    struct problems problems;

    problems_init(&problems);
    watch->watches = watches;
    watch->doc = doc;
    snprintf(watch->id, sizeof(watch->id), "%s", json_get_str(doc, "id", ""));
    spec_fields_read_into(&watch_request_fields, json_object_get(doc, "request"),
                          &watch->request, "", &problems);
    watch_request_check(&watch->request, NULL, &problems);
    watch->request.calendar.anchor_ms = json_get_time(doc, "created");
    problems_release(&problems);
    TAILQ_INSERT_TAIL(&watches->list, watch, entry);
    watches->n++;
    return watch;
}

static void take_out(struct watch *watch)
{
    TAILQ_REMOVE(&watch->watches->list, watch, entry);
    watch->watches->n--;
    watch->is_gone = true;
    if (!watch->is_awaiting)
        watch_free(watch);
}

/* A stored watch, or what is known of a node. */
static void take_stored(struct watches *watches, json_t *doc)
{
    const char *node = json_get_str(doc, "node", NULL);

    if (node) {
        json_object_set(watches->nodes, node, doc);
        if (standing_is_suspect(doc))
            json_object_set(watches->suspects, node, doc);
        return;
    }
    if (actions_disown(doc))
        log_warn("watch %s: a hook's command may have run when the server stopped; it is "
                 "not run again",
                 json_get_str(doc, "id", ""));
    add(watches, json_incref(doc));
}

struct watches *watches_create(uv_loop_t *loop, const struct watches_config *config,
                               struct error *err)
{
    struct watches *watches = memory_zeroed(1, sizeof(*watches), "watches");
    json_t *docs, *doc;
    size_t i;

    watches->config = *config;
    watches->loop = loop;
    TAILQ_INIT(&watches->list);
    watches->nodes = json_object();
    watches->suspects = json_object();
    watches->hooks = hook_runner_create(config->hooks, on_hook_ended, watches, err);
    docs = watches->hooks ? store_load_watched(config->store, err) : NULL;
    if (!docs) {
        watches_free(watches);
        return NULL;
    }
    json_array_foreach (docs, i, doc)
        take_stored(watches, doc);
    json_decref(docs);
    scheduler_set_suspects(config->scheduler, watches->suspects);
    uv_timer_init(loop, &watches->timer);
    watches->timer.data = watches;
    uv_timer_start(&watches->timer, on_tick, START_MS, TICK_MS);
    return watches;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct watches *watches = handle->data;

    watches->closed(watches->closed_arg);
}

void watches_set_server(struct watches *watches, const char *url)
{
    hook_runner_set_server(watches->hooks, url);
}

int watches_reload(struct watches *watches, struct error *err)
{
    return hook_runner_reload(watches->hooks, err);
}

void watches_close(struct watches *watches, void (*closed)(void *arg), void *arg)
{
    watches->is_closing = true;
    watches->closed = closed;
    watches->closed_arg = arg;
    uv_close((uv_handle_t *)&watches->timer, on_timer_closed);
}

void watches_free(struct watches *watches)
{
    struct watch *watch;

    if (!watches)
        return;
    hook_runner_free(watches->hooks);
    while ((watch = TAILQ_FIRST(&watches->list))) {
        watch->is_awaiting = false;
        take_out(watch);
    }
    json_decref(watches->nodes);
    json_decref(watches->suspects);
    free(watches);
}

/* ---- What people ask ---- */

int watches_add(struct watches *watches, const struct watch_request *request,
                const char *by, char *id, store_written *done, void *arg,
                struct error *err)
{
    struct store_write *write;
    int64_t at_ms = now_ms();
    struct calendar calendar = request->calendar;
    json_t *doc;

    if (watches->n >= WATCHES_MAX)
        return error_set(err, ERROR_LIMIT, "there are %d watches, as many as may be",
                         WATCHES_MAX);
    id_run(id);
    calendar.anchor_ms = at_ms;
    doc = sweep_document(id, watch_request_json(request), by, at_ms,
                         calendar_next(&calendar, at_ms - 1));
    write = store_write_create();
    put_row(add(watches, doc), write);
    store_submit(watches->config.store, write, true, done, arg);
    return 0;
}

static void delete_watch(struct watch *watch, struct store_write *write)
{
    size_t batch;
    const char *run = sweep_run(watch->doc, &batch);
    struct error ignored;

    store_write_watched(write, "watch", watch->id, NULL);
    if (run)
        scheduler_cancel(watch->watches->config.scheduler, run, &ignored);
    take_out(watch);
}

static void clear(struct watches *watches, const char *node, struct store_write *write)
{
    json_t *known = json_object_get(watches->nodes, node);

    standing_clear(known);
    json_object_clear(json_object_get(known, "held"));
    put_node(watches, node, write);
}

int watches_change(struct watches *watches, const char *id, enum watches_change change,
                   store_written *done, void *arg, struct error *err)
{
    struct watch *watch = find(watches, id);
    const json_t *node = json_object_get(watches->nodes, id);
    struct store_write *write;

    if (change == WATCHES_CLEAR && !standing_is_suspect(node) && !standing_is_held(node))
        return error_set(err, ERROR_NOT_FOUND, "%.100s is no suspect", id);
    if (change != WATCHES_CLEAR && !watch)
        return error_set(err, ERROR_NOT_FOUND, "there is no watch %.40s", id);
    write = store_write_create();
    if (change == WATCHES_PAUSE) {
        json_object_set_new(watch->doc, "next", json_null());
    } else if (change == WATCHES_RESUME) {
        json_set_time(watch->doc, "next",
                      calendar_next(&watch->request.calendar, now_ms()));
    } else if (change == WATCHES_ACT || change == WATCHES_OBSERVE) {
        watch->request.mode = change == WATCHES_ACT ? WATCH_ACT : WATCH_OBSERVE;
        json_object_set_new(watch->doc, "request", watch_request_json(&watch->request));
    }
    if (change == WATCHES_DELETE)
        delete_watch(watch, write);
    else if (change == WATCHES_CLEAR)
        clear(watches, id, write);
    else
        put_row(watch, write);
    store_submit(watches->config.store, write, true, done, arg);
    return 0;
}

json_t *watches_suspects(const struct watches *watches)
{
    json_t *out = json_array(), *node;
    const char *name;

    json_object_foreach (watches->suspects, name, node)
        json_array_append(out, node);
    return out;
}

static json_t *one_json(const struct watch *watch, bool has_nodes)
{
    return watch_json(watch->doc, nodes_of(watch),
                      calendar_horizon_ms(&watch->request.calendar), now_ms(), has_nodes);
}

json_t *watches_list(const struct watches *watches)
{
    const struct watch *watch;
    json_t *out = json_array();

    TAILQ_FOREACH (watch, &watches->list, entry)
        json_array_append_new(out, one_json(watch, false));
    return out;
}

json_t *watches_get(const struct watches *watches, const char *id)
{
    const struct watch *watch = find(watches, id);

    return watch ? one_json(watch, true) : NULL;
}
