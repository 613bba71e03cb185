/* SPDX-License-Identifier: Apache-2.0 */
/* watches.c - runs specs periodically, judges nodes by the results, and runs hooks */
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
#include "common/spec/batch_group.h"
#include "server/launch/jobs.h"
#include "server/runs/scheduler.h"
#include "server/store/run_packed.h"
#include "server/store/store_work.h"
#include "server/watches/actions.h"
#include "server/watches/calendar.h"
#include "server/watches/sweep.h"

#define TICK_MS scaled_ms(500)

/* A batch waits for missing nodes for this fraction of the period, at most an hour. */
#define SPLIT_AFTER 8
#define SPLIT_MOST_MS 3600000

/* Time after the server's start in which nodes can register again before a sweep begins.
 */
#define START_MS scaled_ms(10000)

struct watch {
    TAILQ_ENTRY(watch) entry;
    struct watches *watches;
    json_t *doc;    /* the watch's document (sweep.h); the store holds a copy */
    const char *id; /* borrowed from doc */
    struct calendar calendar;
    bool is_awaiting; /* the store has not answered the last call yet */
    bool is_gone;     /* the watch was deleted; the pending answer frees it */
    const char *run;  /* the run whose end the store reads; borrowed from doc */
    json_t *ended;    /* the document of that run, or NULL */
};

struct watches {
    struct store *store; /* borrowed, like these */
    struct scheduler *scheduler;
    struct jobs *jobs;
    json_t *nodes;    /* documents of nodes by name (actions.h); the store holds copies */
    json_t *suspects; /* the documents of suspects, by name */
    struct hook_runner hooks;
    TAILQ_HEAD(, watch) list;
    size_t n;
    uv_timer_t timer;
};

/* Return the time of calendars. Test builds (time_scale.h) add the milliseconds in the
 * file that RINGBENCH_WATCH_CLOCK names. */
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
    json_decref(watch->ended);
    json_decref(watch->doc);
    free(watch);
}

static const json_t *request_of(const struct watch *watch)
{
    return json_object_get(watch->doc, "request");
}

static void put_row(const struct watch *watch, struct store_write *write)
{
    store_write_watched(write, "watch", watch->id, watch->doc);
}

/* Call first in each callback of the store. Returns false if the server is stopping, or
 * if the watch was deleted; a deleted watch is freed. */
static bool end_await(struct watch *watch)
{
    watch->is_awaiting = false;
    if (!watch->is_gone)
        return !uv_is_closing((uv_handle_t *)&watch->watches->timer);
    watch_free(watch);
    return false;
}

static bool is_selected(const struct node *node, const json_t *wanted)
{
    const char *group = json_get_str(wanted, "group", NULL);
    bool is_in_group =
        group ? node->group && strcmp(node->group, group) == 0 : !job_group(node->group);

    return node->state != NODE_LEFT && is_in_group &&
           node_has_labels(node, json_object_get(wanted, "labels"));
}

/* Return the nodes that the spec selects now, a new array; none with a launcher. */
static json_t *nodes_of(const struct watch *watch)
{
    const struct node_registry *registry = scheduler_nodes(watch->watches->scheduler);
    const json_t *spec = json_object_get(request_of(watch), "spec");
    const json_t *wanted = json_object_get(spec, "nodes");
    json_t *names = json_object_get(wanted, "names"), *out;

    if (names)
        return json_copy(names);
    out = json_array();
    for (size_t i = 0; i < registry->count && !json_object_get(spec, "launch"); i++)
        if (is_selected(registry->nodes[i], wanted))
            json_array_append_new(out, json_string(registry->nodes[i]->name));
    return out;
}

static struct watch *find(const struct watches *watches, const char *id)
{
    struct watch *watch;

    TAILQ_FOREACH (watch, &watches->list, entry)
        if (strcmp(watch->id, id) == 0)
            return watch;
    return NULL;
}

/* Store the documents of the nodes, and delete clean ones (standing_is_clean). */
static void put_nodes(struct watches *watches, const json_t *names,
                      struct store_write *write)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        json_t *node = json_object_get(watches->nodes, name);
        bool is_clean = standing_is_clean(node);

        if (!node)
            continue;
        if (standing_is_suspect(node))
            json_object_set(watches->suspects, name, node);
        else if (json_object_del(watches->suspects, name) == 0)
            scheduler_set_suspects(watches->scheduler, watches->suspects);
        store_write_watched(write, "node", name, is_clean ? NULL : node);
        if (is_clean)
            json_object_del(watches->nodes, name);
    }
}

/* ---- Hooks ---- */

/* Return the data for functions of actions.h. watch: NULL if it was deleted. */
static struct actions actions_of(const struct watches *watches, const struct watch *watch)
{
    bool may_act =
        watch && strcmp(json_get_str(request_of(watch), "mode", ""), "act") == 0;

    return (struct actions){.watch = watch ? watch->doc : NULL,
                            .hooks = &watches->hooks.hooks,
                            .standings = watches->nodes,
                            .may_act = may_act,
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
    store_submit(watches->store, write, true, NULL, NULL);
}

static void on_kept(void *arg, const struct error *err, const struct store_event *events,
                    size_t n_events)
{
    struct watch *watch = arg;
    json_t *action;

    (void)events;
    (void)n_events;
    if (end_await(watch) && !err)
        while ((action = actions_due(watch->doc)))
            hook_runner_start(&watch->watches->hooks, watch->doc, action,
                              (int64_t)uv_now(watch->watches->timer.loop));
}

/* Submit the write, of which this function takes ownership, together with the watch's
 * row. Then start due hooks. */
static void keep(struct watch *watch, struct store_write *write)
{
    put_row(watch, write);
    watch->is_awaiting = true;
    store_submit(watch->watches->store, write, true, on_kept, watch);
}

/* ---- Submitting a run ---- */

static void on_posted(void *arg, const struct error *err, const char *run)
{
    struct watch *watch = arg;
    struct error ignored;

    if (err && !watch->is_gone) {
        log_warn(
            "watch %s: its run could not be stored and will be submitted again later: %s",
            watch->id, err->text);
        sweep_take_run(sweep_measuring(watch->doc), NULL);
    }
    if (!err && watch->is_gone)
        scheduler_cancel(watch->watches->scheduler, run, &ignored);
    end_await(watch);
}

/* Submit the batch's next run. The run and the watch's row are stored together. If a node
 * was named before, measure pairs: a run over all nodes could pass by chance. */
static void post(struct watch *watch, json_t *batch)
{
    struct watches *watches = watch->watches;
    const json_t *nodes = json_object_get(batch, "nodes");
    json_t *body =
        sweep_spec(watch->doc, batch, standing_any_is_open(watches->nodes, nodes));
    char run[ID_RUN_LENGTH + 1];
    struct store_write *write = store_write_create();
    struct problems problems;
    struct run_spec *spec;
    struct error err;

    problems_init(&problems);
    spec = run_spec_parse(body, &problems);
    json_decref(body);
    if (spec)
        jobs_check(watches->jobs, spec, &problems);
    if (problems.count > 0) {
        problems_error(&problems, "the server refuses the run", &err);
        sweep_give_up(batch, err.text);
        keep(watch, write);
        run_spec_destroy(spec);
    } else {
        jobs_assign(watches->jobs, spec, json_get_str(batch, "group", NULL));
        id_run(run);
        sweep_take_run(batch, run);
        put_row(watch, write);
        watch->is_awaiting = true;
        scheduler_submit_with(watches->scheduler, spec, run, write, on_posted, watch);
    }
    problems_release(&problems);
}

static bool is_node_idle(void *arg, const char *name)
{
    const struct node *node = node_find(arg, name);

    return node && node->state == NODE_ALIVE && !node->leaving &&
           node_is_free(node, false);
}

/* ---- The end of a run ---- */

static void fire(struct watch *watch, const struct action_event *event,
                 struct store_write *write)
{
    const struct actions on = actions_of(watch->watches, watch);

    if (json_array_size(event->nodes) > 0)
        actions_add(&on, event);
    put_nodes(watch->watches, event->nodes, write);
}

/* Return the boot id of the node's machine, or the agent's boot id if the inventory
 * contains none. The id changes when the machine is rebooted or replaced. */
static const char *identity_of(const struct watches *watches, const char *name)
{
    const struct node *node = node_find(scheduler_nodes(watches->scheduler), name);

    return node ? json_get_str(node->inventory, "hostid", node->boot_id) : "";
}

/* Record a run's result for the node, and run the hooks. Only single nodes become
 * suspects: after a slow link or rack, the slow node is unknown. */
static void judge_node(struct watch *watch, const json_t *run,
                       const struct sweep_result *result, json_t *name,
                       struct store_write *write)
{
    struct watches *watches = watch->watches;
    const char *text = json_string_value(name), *id = json_get_str(run, "id", "");
    bool is_named =
        result->answer == VERDICT_SLOW_NODE && json_has_string(result->named, text);
    json_t *node = json_object_get(watches->nodes, text), *names;
    const char *by = json_get_str(node, "watch", watch->id);
    bool is_news, is_suspect;

    /* While the watch that named a suspect exists, only its runs may clear the suspect,
     * because other watches measure something else. */
    if (!is_named && (!node || (strcmp(by, watch->id) != 0 && find(watches, by))))
        return;
    node = standing_of(watches->nodes, text);
    is_news = standing_take(node, watch->id, id, result->sentence, is_named,
                            identity_of(watches, text), now_ms());
    is_suspect = standing_is_suspect(node);
    if (is_news && !is_suspect && !json_get_bool(node, "changed", false))
        sweep_count(watch->doc, "passed_suspects", 1);
    names = json_pack("[O]", name);
    if (is_suspect || is_news || (standing_is_held(node) && !standing_is_open(node)))
        fire(watch,
             &(struct action_event){is_suspect ? "culprit" : "recovered", names, id,
                                    result->sentence, .is_again = !is_news},
             write);
    else
        put_nodes(watches, names, write);
    json_decref(names);
}

static void take_end(struct watch *watch, const json_t *run)
{
    struct store_write *write = store_write_create();
    struct sweep_result result;
    bool is_bad = sweep_take_end(watch->doc, run, now_ms(), &result);
    json_t *name;
    size_t i;

    if (result.has_judged)
        json_array_foreach (result.nodes, i, name)
            judge_node(watch, run, &result, name, write);
    if (is_bad)
        fire(watch,
             &(struct action_event){"fail", result.named ? result.named : result.nodes,
                                    json_get_str(run, "id", ""), result.sentence, false},
             write);
    keep(watch, write);
}

static int read_run(sqlite3 *db, void *arg, struct error *err)
{
    struct watch *watch = arg;

    watch->ended = store_get_run(db, watch->run, err);
    return watch->ended ? 0 : -1;
}

/* If the run's end is not stored yet, the next tick reads the run again. */
static void on_read(void *arg, const struct error *err)
{
    struct watch *watch = arg;
    json_t *run = watch->ended ? run_unpack(watch->ended) : NULL;
    bool is_there;

    watch->ended = NULL;
    is_there = end_await(watch);
    if (is_there && json_is_string(json_object_get(run, "ended"))) {
        take_end(watch, run);
    } else if (is_there && err && err->code == ERROR_NOT_FOUND) {
        sweep_give_up(sweep_measuring(watch->doc), "the run was deleted");
        keep(watch, store_write_create());
    }
    json_decref(run);
}

/* ---- Due times ---- */

/* Begin a sweep over the nodes that exist now. One sweep serves all due times so far.
 * Without nodes the watch stays due. only: measure only the group of this node, if the
 * watch still selects the node; NULL: all groups. */
static void begin_sweep(struct watch *watch, const char *only, int64_t due_ms,
                        int64_t at_ms)
{
    const json_t *request = request_of(watch);
    json_t *names = nodes_of(watch);

    if (only ? json_has_string(names, only)
             : json_array_size(names) > 0 ||
                   json_object_get(json_object_get(request, "spec"), "launch")) {
        sweep_begin(watch->doc, names, (size_t)json_get_int(request, "nodes_at_once", 0),
                    only, due_ms, calendar_count(&watch->calendar, due_ms, at_ms), at_ms);
        json_set_time(watch->doc, "next", calendar_next(&watch->calendar, at_ms));
        keep(watch, store_write_create());
    }
    json_decref(names);
}

static void end_sweep(struct watch *watch, int64_t at_ms)
{
    const json_t *verdict = json_object_get(sweep_close(watch->doc, at_ms), "verdict");
    struct store_write *write = store_write_create();
    json_t *names = nodes_of(watch);
    json_t *stale = sweep_take_stale(watch->doc, names, watch->calendar.period_ms, at_ms);

    log_info("watch %s (%s): %s: %s", watch->id,
             json_get_str(request_of(watch), "name", ""),
             json_get_str(verdict, "answer", ""), json_get_str(verdict, "sentence", ""));
    fire(watch,
         &(struct action_event){"stale", stale, "",
                                "not measured for two periods of the watch", false},
         write);
    keep(watch, write);
    json_decref(stale);
    json_decref(names);
}

static bool is_paused(const struct watch *watch)
{
    return json_is_null(json_object_get(watch->doc, "next"));
}

static bool is_due(const struct watch *watch, int64_t at_ms)
{
    return !is_paused(watch) && at_ms >= json_get_time(watch->doc, "next");
}

/* True if a batch has waited long enough to start without its missing nodes. */
static bool has_waited(const struct watch *watch, int64_t at_ms)
{
    int64_t least_ms = watch->calendar.period_ms / SPLIT_AFTER;
    int64_t begun_ms = json_get_time(json_object_get(watch->doc, "sweep"), "begun");

    return at_ms - begun_ms >= (least_ms < SPLIT_MOST_MS ? least_ms : SPLIT_MOST_MS);
}

static void tick_sweep(struct watch *watch, int64_t at_ms)
{
    struct watches *watches = watch->watches;
    bool idle_only = json_get_bool(request_of(watch), "idle_only", true);
    bool is_late = is_paused(watch) || is_due(watch, at_ms) ||
                   !calendar_is_open(&watch->calendar, at_ms);
    json_t *batch = sweep_measuring(watch->doc);

    if (batch) {
        watch->run = sweep_run(batch);
        if (scheduler_run_is_active(watches->scheduler, watch->run))
            return;
        watch->is_awaiting = true;
        store_do_on(watches->store, STORE_KEYED, read_run, on_read, watch);
        return;
    }
    batch = sweep_next(watch->doc, idle_only ? is_node_idle : NULL,
                       (void *)(uintptr_t)scheduler_nodes(watches->scheduler),
                       !is_late && has_waited(watch, at_ms));
    /* A follow-up is posted at any time. */
    if (batch && (!is_late || json_object_get(batch, "spec")))
        post(watch, batch);
    else if (sweep_is_over(watch->doc) || is_late)
        end_sweep(watch, at_ms);
}

/* ---- Suspects that came back ---- */

/* If the suspect's machine was rebooted or replaced, its watch measures the suspect's
 * group now or after the current sweep. */
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
    /* A sweep that is due includes the suspect's group anyway. */
    if (watch && !is_paused(watch) && !is_due(watch, at_ms) &&
        calendar_is_open(&watch->calendar, at_ms))
        begin_sweep(watch, name, at_ms, at_ms);
    write = store_write_create();
    store_write_watched(write, "node", name, node);
    store_submit(watches->store, write, true, NULL, NULL);
}

static void on_tick(uv_timer_t *timer)
{
    struct watches *watches = timer->data;
    int64_t at_ms = now_ms(), next_ms;
    struct watch *watch;
    const char *name;
    json_t *node;

    engine_calls_tick(&watches->hooks.calls, (int64_t)uv_now(timer->loop));
    if (!store_takes_writes(watches->store))
        return;
    json_object_foreach (watches->suspects, name, node)
        tick_suspect(watches, node, at_ms);
    TAILQ_FOREACH (watch, &watches->list, entry) {
        if (watch->is_awaiting)
            continue;
        /* After the clock was set back, the stored due time is too late. */
        next_ms = calendar_next(&watch->calendar, at_ms);
        if (json_get_time(watch->doc, "next") > next_ms)
            json_set_time(watch->doc, "next", next_ms);
        if (json_is_object(json_object_get(watch->doc, "sweep")))
            tick_sweep(watch, at_ms);
        else if (is_due(watch, at_ms) && calendar_is_open(&watch->calendar, at_ms))
            begin_sweep(watch, NULL, json_get_time(watch->doc, "next"), at_ms);
    }
}

/* ---- The list ---- */

/* Add a watch to the list. Takes ownership of `doc`. */
static struct watch *add(struct watches *watches, json_t *doc)
{
    struct watch *watch = memory_zeroed(1, sizeof(*watch), "a watch");
    struct problems ignored;

    problems_init(&ignored);
    watch->watches = watches;
    watch->doc = doc;
    watch->id = json_get_str(doc, "id", "");
    watch->calendar.anchor_ms = json_get_time(doc, "created");
    calendar_read(&watch->calendar, json_object_get(request_of(watch), "every"),
                  json_object_get(request_of(watch), "window"), &ignored);
    problems_release(&ignored);
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

/* Add a stored document of a watch or a node. */
static void take_stored(struct watches *watches, json_t *doc)
{
    const char *node = json_get_str(doc, "node", NULL);

    if (node) {
        json_object_set(watches->nodes, node, doc);
        if (standing_is_suspect(doc))
            json_object_set(watches->suspects, node, doc);
        return;
    }
    actions_disown(doc);
    add(watches, json_incref(doc));
}

struct watches *watches_create(uv_loop_t *loop, struct store *store,
                               struct scheduler *scheduler, struct jobs *jobs,
                               const char *hooks, struct error *err)
{
    struct watches *watches = memory_zeroed(1, sizeof(*watches), "watches");
    json_t *docs = NULL, *doc;
    size_t i;

    watches->store = store;
    watches->scheduler = scheduler;
    watches->jobs = jobs;
    TAILQ_INIT(&watches->list);
    watches->nodes = json_object();
    watches->suspects = json_object();
    if (!hook_runner_init(&watches->hooks, hooks, on_hook_ended, watches, err))
        docs = store_load_watched(store, err);
    if (!docs) {
        watches_free(watches);
        return NULL;
    }
    json_array_foreach (docs, i, doc)
        take_stored(watches, doc);
    json_decref(docs);
    scheduler_set_suspects(scheduler, watches->suspects);
    uv_timer_init(loop, &watches->timer);
    watches->timer.data = watches;
    uv_timer_start(&watches->timer, on_tick, START_MS, TICK_MS);
    return watches;
}

struct hook_runner *watches_hooks(struct watches *watches)
{
    return &watches->hooks;
}

void watches_close(struct watches *watches)
{
    uv_close((uv_handle_t *)&watches->timer, NULL);
}

void watches_free(struct watches *watches)
{
    struct watch *watch;

    if (!watches)
        return;
    hook_runner_release(&watches->hooks);
    while ((watch = TAILQ_FIRST(&watches->list))) {
        watch->is_awaiting = false;
        take_out(watch);
    }
    json_decref(watches->nodes);
    json_decref(watches->suspects);
    free(watches);
}

/* ---- Requests of clients ---- */

int watches_add(struct watches *watches, json_t *request, const char *by,
                store_written *done, void *arg, char *id, struct error *err)
{
    int64_t at_ms = now_ms();
    struct store_write *write;
    struct watch *watch;

    if (watches->n >= WATCHES_MAX) {
        json_decref(request);
        return error_set(err, ERROR_LIMIT, "there are %d watches already; delete one",
                         WATCHES_MAX);
    }
    id_run(id);
    watch = add(watches, sweep_document(id, request, by, at_ms));
    json_set_time(watch->doc, "next", calendar_next(&watch->calendar, at_ms - 1));
    write = store_write_create();
    put_row(watch, write);
    store_submit(watches->store, write, true, done, arg);
    return 0;
}

static void clear(struct watches *watches, const char *node, struct store_write *write)
{
    json_t *known = json_object_get(watches->nodes, node),
           *names = json_pack("[s]", node);

    standing_clear(known);
    json_object_clear(json_object_get(known, "held"));
    put_nodes(watches, names, write);
    json_decref(names);
}

int watches_change(struct watches *watches, const char *id, enum watches_change change,
                   store_written *done, void *arg, struct error *err)
{
    struct watch *watch = find(watches, id);
    const json_t *node = json_object_get(watches->nodes, id);
    struct store_write *write;
    struct error ignored;
    const char *run;

    if (change == WATCHES_CLEAR && !standing_is_suspect(node) && !standing_is_held(node))
        return error_set(err, ERROR_NOT_FOUND, "%.100s is not a suspect", id);
    if (change != WATCHES_CLEAR && !watch)
        return error_set(err, ERROR_NOT_FOUND, "there is no watch %.40s", id);
    write = store_write_create();
    if (change == WATCHES_PAUSE)
        json_object_set_new(watch->doc, "next", json_null());
    else if (change == WATCHES_RESUME)
        json_set_time(watch->doc, "next", calendar_next(&watch->calendar, now_ms()));
    else if (change == WATCHES_ACT || change == WATCHES_OBSERVE)
        json_object_set_new(json_object_get(watch->doc, "request"), "mode",
                            json_string(change == WATCHES_ACT ? "act" : "observe"));
    if (change == WATCHES_CLEAR) {
        clear(watches, id, write);
    } else if (change == WATCHES_DELETE) {
        store_write_watched(write, "watch", watch->id, NULL);
        run = sweep_run(sweep_measuring(watch->doc));
        if (run)
            scheduler_cancel(watches->scheduler, run, &ignored);
        take_out(watch);
    } else {
        put_row(watch, write);
    }
    store_submit(watches->store, write, true, done, arg);
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

static json_t *show(const struct watch *watch, bool has_nodes)
{
    return sweep_show(watch->doc, nodes_of(watch), watch->calendar.period_ms, now_ms(),
                      has_nodes);
}

json_t *watches_list(const struct watches *watches)
{
    const struct watch *watch;
    json_t *out = json_array();

    TAILQ_FOREACH (watch, &watches->list, entry)
        json_array_append_new(out, show(watch, false));
    return out;
}

json_t *watches_get(const struct watches *watches, const char *id)
{
    const struct watch *watch = find(watches, id);

    return watch ? show(watch, true) : NULL;
}
