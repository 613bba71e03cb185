/* SPDX-License-Identifier: Apache-2.0 */
/* actions.c - which hooks are run for what a watch has found, and what came of them */
#include "server/watches/actions.h"

#include <string.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "server/watches/standing.h"

#define HOUR_MS 3600000

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

/* Why it is not done, or NULL. */
static const char *refusal_of(const struct actions *on, const struct hook *hook)
{
    if (has_run_often(on, hook))
        return "its limit per_hour is reached";
    if (hook->most_nodes && count_held(on, hook->name) >= hook->most_nodes)
        return "it was done to most_nodes nodes already; a fault that all of them share, "
               "such as a switch, is likelier than so many slow nodes";
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

/* Whether a node stays as the hook left it, until that is undone. */
static bool is_lasting(const struct hook_list *hooks, const struct hook *hook)
{
    bool is_undone = false;

    for (size_t i = 0; i < hooks->n; i++)
        is_undone = is_undone || (hooks->items[i]->undoes &&
                                  strcmp(hooks->items[i]->undoes, hook->name) == 0);
    return hook->is_per_node && !hook->undoes && (is_undone || hook->most_nodes > 0);
}

/* Put an action (taken) first, which has its event, hook, nodes, run, sentence and
 * attempt. */
static void put(const struct actions *on, const struct hook *hook, json_t *action)
{
    const char *refusal = refusal_of(on, hook);
    const char *state = !on->may_act ? "observed" : refusal ? "refused" : "due";
    char id[ID_RUN_LENGTH + 1];

    id_run(id);
    json_object_set_new(action, "id", json_string(id));
    json_object_set_new(action, "state", json_string(state));
    json_object_set_new(action, "output", json_string(refusal ? refusal : ""));
    json_set_time(action, "time", on->now_ms);
    json_array_insert_new(list_of(on->watch), 0, action);
    if (json_array_size(list_of(on->watch)) > ACTIONS_KEPT)
        json_array_remove(list_of(on->watch), ACTIONS_KEPT);
    if (is_in(action, "due") && is_lasting(on->hooks, hook))
        set_held(on, first_node(action), hook->name, true);
}

static void put_first(const struct actions *on, const struct hook *hook,
                      const struct action_event *event, json_t *nodes)
{
    put(on, hook,
        json_pack("{s:s, s:s, s:O, s:s, s:o, s:i}", "event", event->event, "hook",
                  hook->name, "nodes", nodes, "run", event->run, "sentence",
                  json_clean_string(event->sentence), "attempt", 1));
}

/* Whether an attempt of the hook for the node has not ended, or another one follows. */
static bool is_under_way(const struct actions *on, const struct hook *hook,
                         const char *node)
{
    const json_t *action;
    size_t i;

    json_array_foreach (list_of(on->watch), i, action)
        if (strcmp(json_get_str(action, "hook", ""), hook->name) == 0 &&
            strcmp(first_node(action), node) == 0 &&
            (is_in(action, "due") || is_in(action, "running") ||
             json_object_get(action, "retry")))
            return true;
    return false;
}

/* Whether the hook still has an effect on the node. Only the effects of hooks that undo
 * something or are remembered can be there already. */
static bool is_left_to_do(const struct actions *on, const struct hook *hook,
                          const char *node)
{
    const json_t *standing = json_object_get(on->standings, node);

    if (hook->undoes)
        return is_held(standing, hook->undoes) && !is_under_way(on, hook, node);
    return !is_lasting(on->hooks, hook) ||
           (!is_held(standing, hook->name) && !is_under_way(on, hook, node));
}

/* Once for each node to which it is left to do. */
static void put_for_each(const struct actions *on, const struct hook *hook,
                         const struct action_event *event)
{
    json_t *name;
    size_t i;

    json_array_foreach (event->nodes, i, name) {
        json_t *one = json_pack("[O]", name);

        if (is_left_to_do(on, hook, json_string_value(name)) ||
            (hook->undoes && !on->may_act))
            put_first(on, hook, event, one);
        json_decref(one);
    }
}

void actions_add(const struct actions *on, const struct action_event *event)
{
    for (size_t i = 0; i < on->hooks->n; i++) {
        const struct hook *hook = on->hooks->items[i];

        if (!json_has_string(hook->on, event->event) ||
            (event->is_again && !hook->undoes))
            continue;
        if (hook->is_per_node)
            put_for_each(on, hook, event);
        else
            put_first(on, hook, event, event->nodes);
    }
}

/* Whether what the hook was to be run for is still so. */
static bool is_wanted(const struct actions *on, const json_t *action,
                      const struct hook *hook)
{
    const char *event = json_get_str(action, "event", "");
    const json_t *node = json_object_get(on->standings, first_node(action));

    if (!is_left_to_do(on, hook, first_node(action)))
        return false;
    return strcmp(event, "culprit") == 0     ? standing_is_suspect(node)
           : strcmp(event, "recovered") == 0 ? !standing_is_suspect(node)
                                             : true;
}

bool actions_retry(const struct actions *on)
{
    json_t *action, *next;
    size_t i;

    json_array_foreach (list_of(on->watch), i, action) {
        const struct hook *hook =
            hook_list_find(on->hooks, json_get_str(action, "hook", ""));

        if (!json_object_get(action, "retry") ||
            json_get_time(action, "retry") > on->now_ms ||
            (hook && has_run_often(on, hook)))
            continue;
        json_object_del(action, "retry");
        if (hook && is_wanted(on, action, hook)) {
            next = json_copy(action);
            json_object_set_new(
                next, "attempt",
                json_integer((json_int_t)json_get_int(action, "attempt", 1) + 1));
            put(on, hook, next);
        }
        return true;
    }
    return false;
}

json_t *actions_due(const json_t *watch)
{
    for (size_t i = json_array_size(list_of(watch)); i-- > 0;)
        if (is_in(json_array_get(list_of(watch), i), "due"))
            return json_array_get(list_of(watch), i);
    return NULL;
}

/* One that was killed may have had its effect, and is not tried again. */
void actions_end(const struct actions *on, json_t *action, const char *state,
                 const char *output)
{
    const struct hook *hook = hook_list_find(on->hooks, json_get_str(action, "hook", ""));
    int64_t attempt = json_get_int(action, "attempt", 1);
    bool has_failed = strcmp(state, "failed") == 0;

    json_object_set_new(action, "state", json_string(state));
    json_object_set_new(action, "output", json_clean_string(output));
    if (has_failed && attempt < ACTION_ATTEMPTS)
        json_set_time(action, "retry", on->now_ms + ACTION_RETRY_MS * attempt);
    if (!hook || !hook->is_per_node)
        return;
    if (hook->undoes && strcmp(state, "done") == 0)
        set_held(on, first_node(action), hook->undoes, false);
    else if (!hook->undoes && has_failed)
        set_held(on, first_node(action), hook->name, false);
}

bool actions_disown(json_t *watch)
{
    json_t *action;
    bool is_any = false;
    size_t i;

    json_array_foreach (list_of(watch), i, action) {
        if (!is_in(action, "due") && !is_in(action, "running"))
            continue;
        is_any = true;
        json_object_set_new(action, "state", json_string("unknown"));
        json_object_set_new(
            action, "output",
            json_string("the server was stopped before its command ended; "
                        "it is not run again"));
    }
    return is_any;
}
