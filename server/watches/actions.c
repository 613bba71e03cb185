/* SPDX-License-Identifier: Apache-2.0 */
/* actions.c - decides which nodes are suspects, and selects and records hooks */
#include "server/watches/actions.h"

#include <string.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"

#define HOUR_MS 3600000

/* ---- Suspects ---- */

json_t *standing_of(json_t *standings, const char *node)
{
    json_t *standing = json_object_get(standings, node);

    if (!standing) {
        standing = json_pack("{s:s, s:[], s:b, s:{}}", "node", node, "results", "changed",
                             0, "held");
        json_object_set_new(standings, node, standing);
    }
    return standing;
}

bool standing_is_suspect(const json_t *node)
{
    return json_object_get(node, "since") != NULL;
}

bool standing_is_held(const json_t *node)
{
    return json_object_size(json_object_get(node, "held")) > 0;
}

bool standing_is_open(const json_t *node)
{
    const json_t *latest = json_array_get(json_object_get(node, "results"), 0);

    return standing_is_suspect(node) || json_get_bool(latest, "named", false);
}

bool standing_any_is_open(const json_t *standings, const json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (standing_is_open(
                json_object_get(standings, json_string_value(json_array_get(names, i)))))
            return true;
    return false;
}

static size_t count_named(const json_t *node)
{
    const json_t *result;
    size_t n = 0, i;

    json_array_foreach (json_object_get(node, "results"), i, result)
        n += json_get_bool(result, "named", false);
    return n;
}

bool standing_is_clean(const json_t *node)
{
    return count_named(node) == 0 && !standing_is_suspect(node) &&
           !standing_is_held(node);
}

void standing_clear(json_t *node)
{
    json_array_clear(json_object_get(node, "results"));
    json_object_del(node, "since");
    json_object_del(node, "watch");
    json_object_del(node, "run");
    json_object_del(node, "sentence");
}

bool standing_take(json_t *node, const char *watch, const char *run, const char *sentence,
                   bool is_named, const char *identity, int64_t now_ms)
{
    json_t *results = json_object_get(node, "results");
    bool was_suspect = standing_is_suspect(node);

    json_array_insert_new(results, 0,
                          json_pack("{s:s, s:b}", "run", run, "named", (int)is_named));
    if (json_array_size(results) > STANDING_RUNS)
        json_array_remove(results, STANDING_RUNS);
    if (was_suspect && !is_named) {
        standing_clear(node);
        return true;
    }
    if (is_named) {
        json_object_set_new(node, "identity", json_string(identity));
        json_object_set_new(node, "changed", json_false());
    }
    if (was_suspect || count_named(node) < STANDING_NAMED)
        return false;
    json_set_time(node, "since", now_ms);
    json_object_set_new(node, "watch", json_string(watch));
    json_object_set_new(node, "run", json_string(run));
    json_object_set_new(node, "sentence", json_clean_string(sentence));
    return true;
}

/* ---- Actions ---- */

static json_t *list_of(const json_t *watch)
{
    return json_object_get(watch, "actions");
}

static bool is_in(const json_t *action, const char *state)
{
    return strcmp(json_get_str(action, "state", ""), state) == 0;
}

static const char *first_node(const json_t *action)
{
    return json_string_value(json_array_get(json_object_get(action, "nodes"), 0));
}

static bool is_held(const json_t *standing, const char *hook)
{
    return json_object_get(json_object_get(standing, "held"), hook) != NULL;
}

static long count_held(const struct actions *on, const char *hook)
{
    const char *name;
    json_t *node;
    long n = 0;

    json_object_foreach (on->standings, name, node)
        n += is_held(node, hook);
    return n;
}

static bool has_run_often(const struct actions *on, const struct hook *hook)
{
    const json_t *action;
    long n = 0;
    size_t i;

    json_array_foreach (list_of(on->watch), i, action)
        n += strcmp(json_get_str(action, "hook", ""), hook->name) == 0 &&
             !is_in(action, "observed") && !is_in(action, "refused") &&
             on->now_ms - json_get_time(action, "time") < HOUR_MS;
    return n >= hook->per_hour;
}

/* Return the reason why the hook may not run, or NULL. */
static const char *refusal_of(const struct actions *on, const struct hook *hook)
{
    if (has_run_often(on, hook))
        return "the hook's limit per_hour is reached";
    if (hook->most_nodes && count_held(on, hook->name) >= hook->most_nodes)
        return "the hook's limit most_nodes is reached: check for a cause that the nodes "
               "share, such as a faulty switch";
    return NULL;
}

static void set_held(const struct actions *on, const char *node, const char *hook,
                     bool is_held)
{
    json_t *held = json_object_get(standing_of(on->standings, node), "held");

    if (is_held)
        json_object_set_new(held, hook, json_true());
    else
        json_object_del(held, hook);
}

/* Remove the oldest ended action from a full list. Actions that did not run go first,
 * because has_run_often() counts the others. */
static void make_room(json_t *list)
{
    size_t oldest = 0, idle = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *action = json_array_get(list, i);

        if (!is_in(action, "due") && !is_in(action, "running"))
            oldest = i;
        if (is_in(action, "refused") || is_in(action, "observed"))
            idle = i;
    }
    if (json_array_size(list) > ACTIONS_KEPT && (idle || oldest))
        json_array_remove(list, idle ? idle : oldest);
}

/* Add an action for the hook. */
static void put(const struct actions *on, const struct hook *hook,
                const struct action_event *event, json_t *nodes)
{
    const char *refusal = refusal_of(on, hook);
    const char *state = !on->may_act ? "observed" : refusal ? "refused" : "due";
    char id[ID_RUN_LENGTH + 1];
    json_t *action;

    id_run(id);
    action = json_pack("{s:s, s:s, s:s, s:O, s:s, s:o, s:s, s:s}", "id", id, "event",
                       event->event, "hook", hook->name, "nodes", nodes, "run",
                       event->run, "sentence", json_clean_string(event->sentence),
                       "state", state, "output", refusal ? refusal : "");
    json_set_time(action, "time", on->now_ms);
    json_array_insert_new(list_of(on->watch), 0, action);
    make_room(list_of(on->watch));
    if (is_in(action, "due") && hook->is_lasting)
        set_held(on, first_node(action), hook->name, true);
}

/* True if a command of the hook for the node is due or running. */
static bool is_under_way(const struct actions *on, const struct hook *hook,
                         const char *node)
{
    const json_t *action;
    size_t i;

    json_array_foreach (list_of(on->watch), i, action)
        if (strcmp(json_get_str(action, "hook", ""), hook->name) == 0 &&
            strcmp(first_node(action), node) == 0 &&
            (is_in(action, "due") || is_in(action, "running")))
            return true;
    return false;
}

/* True if the hook must run for the node. An undoing hook runs only where the hook that
 * it undoes was applied. A lasting hook runs only where it was not applied yet. */
static bool is_left_to_do(const struct actions *on, const struct hook *hook,
                          const char *node)
{
    const json_t *standing = json_object_get(on->standings, node);

    if (hook->undoes)
        return !on->may_act ||
               (is_held(standing, hook->undoes) && !is_under_way(on, hook, node));
    return !hook->is_lasting || !is_held(standing, hook->name);
}

static void put_for_each(const struct actions *on, const struct hook *hook,
                         const struct action_event *event)
{
    json_t *name;
    size_t i;

    json_array_foreach (event->nodes, i, name) {
        json_t *one = json_pack("[O]", name);

        if (is_left_to_do(on, hook, json_string_value(name)))
            put(on, hook, event, one);
        json_decref(one);
    }
}

void actions_add(const struct actions *on, const struct action_event *event)
{
    for (size_t i = 0; i < on->hooks->n; i++) {
        const struct hook *hook = on->hooks->items[i];
        bool is_repeated = on->may_act && (hook->undoes || hook->is_lasting);

        if (!json_has_string(hook->on, event->event) || (event->is_again && !is_repeated))
            continue;
        if (hook->is_per_node)
            put_for_each(on, hook, event);
        else
            put(on, hook, event, event->nodes);
    }
}

json_t *actions_due(const json_t *watch)
{
    for (size_t i = json_array_size(list_of(watch)); i-- > 0;)
        if (is_in(json_array_get(list_of(watch), i), "due"))
            return json_array_get(list_of(watch), i);
    return NULL;
}

/* A killed command may have taken effect, so "held" of the node gets the hook. */
void actions_end(const struct actions *on, json_t *action, const char *state,
                 const char *output)
{
    const struct hook *hook = hook_list_find(on->hooks, json_get_str(action, "hook", ""));

    json_object_set_new(action, "state", json_string(state));
    json_object_set_new(action, "output", json_clean_string(output));
    if (!hook || !hook->is_per_node)
        return;
    if (hook->undoes && strcmp(state, "done") == 0)
        set_held(on, first_node(action), hook->undoes, false);
    else if (!hook->undoes && strcmp(state, "failed") == 0)
        set_held(on, first_node(action), hook->name, false);
}

void actions_disown(json_t *watch)
{
    static const char why[] =
        "the server stopped before the command ended. The command may have taken effect, "
        "so the server does not run it again";
    json_t *action;
    size_t i;

    json_array_foreach (list_of(watch), i, action)
        if (is_in(action, "due") || is_in(action, "running")) {
            json_object_set_new(action, "state", json_string("unknown"));
            json_object_set_new(action, "output", json_string(why));
        }
}
