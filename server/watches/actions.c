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

static bool is_held(const json_t *standing, const char *hook)
{
    return json_object_get(json_object_get(standing, "held"), hook) != NULL;
}

static long count_held(json_t *standings, const char *hook)
{
    const char *name;
    json_t *node;
    long n = 0;

    json_object_foreach (standings, name, node)
        n += is_held(node, hook);
    return n;
}

static long count_recent(const json_t *watch, const char *hook, int64_t now_ms)
{
    const json_t *action;
    long n = 0;
    size_t i;

    json_array_foreach (list_of(watch), i, action)
        n += strcmp(json_get_str(action, "hook", ""), hook) == 0 &&
             !is_in(action, "observed") && !is_in(action, "refused") &&
             now_ms - json_get_time(action, "time") < HOUR_MS;
    return n;
}

/* Why it is not done, or NULL. */
static const char *refusal_of(const json_t *watch, const struct hook *hook,
                              json_t *standings, int64_t now_ms)
{
    if (count_recent(watch, hook->name, now_ms) >= hook->per_hour)
        return "its limit per_hour is reached";
    if (hook->most_nodes && count_held(standings, hook->name) >= hook->most_nodes)
        return "it was done to most_nodes nodes already; a fault that all of them share, "
               "such as a switch, is likelier than so many slow nodes";
    return NULL;
}

static void set_held(json_t *standings, const char *node, const char *hook, bool is_held)
{
    json_t *held = json_object_get(standing_of(standings, node), "held");

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

static void add(json_t *watch, const struct hook_list *hooks, const struct hook *hook,
                const struct action_event *event, json_t *nodes, int attempt,
                bool may_act, json_t *standings, int64_t now_ms)
{
    const char *refusal = refusal_of(watch, hook, standings, now_ms);
    const char *state = !may_act ? "observed" : refusal ? "refused" : "due";
    char id[ID_RUN_LENGTH + 1];
    json_t *action;

    id_run(id);
    action =
        json_pack("{s:s, s:s, s:s, s:O, s:s, s:o, s:i, s:s, s:s}", "id", id, "event",
                  event->event, "hook", hook->name, "nodes", nodes, "run", event->run,
                  "sentence", json_clean_string(event->sentence), "attempt", attempt,
                  "state", state, "output", refusal ? refusal : "");
    json_set_time(action, "time", now_ms);
    json_array_insert_new(list_of(watch), 0, action);
    if (json_array_size(list_of(watch)) > ACTIONS_KEPT)
        json_array_remove(list_of(watch), ACTIONS_KEPT);
    if (is_in(action, "due") && is_lasting(hooks, hook))
        set_held(standings, json_string_value(json_array_get(nodes, 0)), hook->name,
                 true);
}

/* Once for each node to which it was not done yet, or was done what it undoes. */
static void add_for_each(json_t *watch, const struct hook_list *hooks,
                         const struct hook *hook, const struct action_event *event,
                         bool may_act, json_t *standings, int64_t now_ms)
{
    json_t *name;
    size_t i;

    json_array_foreach (event->nodes, i, name) {
        const json_t *standing = json_object_get(standings, json_string_value(name));
        json_t *one = json_pack("[O]", name);

        if (hook->undoes ? is_held(standing, hook->undoes) || !may_act
                         : !is_held(standing, hook->name))
            add(watch, hooks, hook, event, one, 1, may_act, standings, now_ms);
        json_decref(one);
    }
}

void actions_add(json_t *watch, const struct hook_list *hooks,
                 const struct action_event *event, bool may_act, json_t *standings,
                 int64_t now_ms)
{
    for (size_t i = 0; i < hooks->n; i++) {
        const struct hook *hook = hooks->items[i];

        if (!json_has_string(hook->on, event->event) ||
            (event->is_again && !hook->undoes))
            continue;
        if (hook->is_per_node)
            add_for_each(watch, hooks, hook, event, may_act, standings, now_ms);
        else
            add(watch, hooks, hook, event, event->nodes, 1, may_act, standings, now_ms);
    }
}

/* Whether what the hook was to be run for is still so. */
static bool is_wanted(const json_t *action, const struct hook *hook, json_t *standings)
{
    const char *event = json_get_str(action, "event", "");
    const json_t *node = json_object_get(
        standings,
        json_string_value(json_array_get(json_object_get(action, "nodes"), 0)));

    if (hook->undoes && !is_held(node, hook->undoes))
        return false;
    return strcmp(event, "culprit") == 0     ? standing_is_suspect(node)
           : strcmp(event, "recovered") == 0 ? !standing_is_suspect(node)
                                             : true;
}

bool actions_retry(json_t *watch, const struct hook_list *hooks, json_t *standings,
                   int64_t now_ms)
{
    for (size_t i = json_array_size(list_of(watch)); i-- > 0;) {
        json_t *action = json_array_get(list_of(watch), i);
        const char *name = json_get_str(action, "hook", "");
        const struct hook *hook = hook_list_find(hooks, name);
        const struct action_event event = {
            json_get_str(action, "event", ""), json_object_get(action, "nodes"),
            json_get_str(action, "run", ""), json_get_str(action, "sentence", ""), false};

        if (!json_object_get(action, "retry") ||
            json_get_time(action, "retry") > now_ms ||
            (hook && count_recent(watch, name, now_ms) >= hook->per_hour))
            continue;
        json_object_del(action, "retry");
        if (hook && is_wanted(action, hook, standings))
            add(watch, hooks, hook, &event, event.nodes,
                (int)json_get_int(action, "attempt", 1) + 1, true, standings, now_ms);
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
void actions_end(json_t *action, const struct hook_list *hooks, const char *state,
                 const char *output, json_t *standings, int64_t now_ms)
{
    const struct hook *hook = hook_list_find(hooks, json_get_str(action, "hook", ""));
    const char *node =
        json_string_value(json_array_get(json_object_get(action, "nodes"), 0));
    int64_t attempt = json_get_int(action, "attempt", 1);
    bool has_failed = strcmp(state, "failed") == 0;

    json_object_set_new(action, "state", json_string(state));
    json_object_set_new(action, "output", json_clean_string(output));
    if (has_failed && attempt < ACTION_ATTEMPTS)
        json_set_time(action, "retry", now_ms + ACTION_RETRY_MS * attempt);
    if (!hook || !hook->is_per_node)
        return;
    if (hook->undoes && strcmp(state, "done") == 0)
        set_held(standings, node, hook->undoes, false);
    else if (!hook->undoes && has_failed)
        set_held(standings, node, hook->name, false);
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
