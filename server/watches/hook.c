/* SPDX-License-Identifier: Apache-2.0 */
/* hook.c - reads hooks and runs their commands when a watch reports an event */
#include "server/watches/hook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/command_template.h"
#include "common/spec/config_files.h"
#include "common/spec/spec_field.h"

#define TEXT_MAX 2000

/* Parameters of templates: either `node` or `nodes`. */
static const char *const given[] = {"event", "watch", "name",     "nodes",
                                    "run",   "url",   "sentence", "node"};

static const char *const events[] = {"fail", "culprit", "recovered", "stale"};

static void check_on(json_t *on, const char *pointer, struct problems *problems)
{
    size_t n_known = 0;

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        n_known += json_has_string(on, events[i]);
    if (n_known == 0 || n_known != json_array_size(on))
        problems_add(problems, pointer,
                     "must be an array of one or more different events: fail, culprit, "
                     "recovered, stale");
}

/* check_templates() checks the fields for which the table contains no check. */
#define AT(member) .offset = offsetof(struct hook, member)
#define TEXT(member) .kind = &spec_text, AT(member), .max = TEXT_MAX
#define COUNT(member, low, high)                                                         \
    .kind = &spec_integer, AT(member), .min = (low), .max = (high)
#define JSON(member, checker) .kind = &spec_json, AT(member), .check = (checker)

static const struct spec_field table[] = {
    {"description", NULL, 0, TEXT(description)},
    {"on", NULL, SPEC_REQUIRED, JSON(on, check_on)},
    {"argv", NULL, SPEC_REQUIRED, JSON(argv, NULL)},
    {"undoes", NULL, 0, TEXT(undoes)},
    {"per_hour", "10", 0, COUNT(per_hour, 1, 40)},
    {"most_nodes", NULL, 0, COUNT(most_nodes, 1, 100000)},
    {"command_s", "30", 0, .kind = &spec_real, AT(command_s), .least = 0.1, .most = 3600},
};

static const struct spec_fields fields = {table, sizeof(table) / sizeof(table[0]),
                                          "an object"};

static void check_templates(const struct hook *hook, struct problems *problems)
{
    json_t *names = json_object();

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (strcmp(given[i], hook->is_per_node ? "nodes" : "node") != 0)
            json_object_set_new(names, given[i], json_string(""));
    free(command_template_check(hook->argv, "/argv", names, hook->config_dir, problems));
    json_decref(names);
    if (hook->undoes && !hook->is_per_node)
        problems_add(problems, "/undoes", "needs an argument with {node}");
    if (hook->most_nodes && !hook->is_per_node)
        problems_add(problems, "/most_nodes", "needs an argument with {node}");
}

static void hook_free(struct hook *hook)
{
    free(hook->name);
    free(hook->config_dir);
    spec_fields_release(&fields, (struct run_spec *)(void *)hook);
    free(hook);
}

static void add_file(void *arg, const struct config_file *file, struct problems *problems)
{
    struct hook_list *list = arg;
    struct hook *hook = memory_zeroed(1, sizeof(*hook), "a hook");
    char *argv;

    hook->name = memory_text(file->name, "a hook");
    hook->config_dir = memory_text(file->dir, "a hook");
    spec_fields_read_into(&fields, file->content, hook, "", problems);
    argv = hook->argv ? json_text(hook->argv) : NULL;
    hook->is_per_node = argv && strstr(argv, "{node}");
    free(argv);
    hook->is_lasting = hook->is_per_node && !hook->undoes && hook->most_nodes > 0;
    if (problems->count == 0)
        check_templates(hook, problems);
    list->items[list->n++] = hook;
}

const struct hook *hook_list_find(const struct hook_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i]->name, name) == 0)
            return list->items[i];
    return NULL;
}

/* Refuse a hook whose `undoes` names no existing hook, because such a hook would never
 * run. */
static int link_undone(const struct hook_list *list, struct error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct hook *hook = list->items[i];
        struct hook *undone = NULL;

        for (size_t k = 0; hook->undoes && k < list->n; k++)
            if (strcmp(list->items[k]->name, hook->undoes) == 0)
                undone = list->items[k];
        if (hook->undoes && !undone)
            return error_set(err, ERROR_INVALID,
                             "hook %.100s: /undoes: there is no hook %.100s", hook->name,
                             hook->undoes);
        if (undone)
            undone->is_lasting = undone->is_per_node && !undone->undoes;
    }
    return 0;
}

static void release(struct hook_list *list)
{
    while (list->n > 0)
        hook_free(list->items[--list->n]);
}

static int load(struct hook_list *list, const char *dir, struct error *err)
{
    list->n = 0;
    if (!config_files_load(dir, "hooks", HOOKS_MAX, add_file, list, err) &&
        !link_undone(list, err))
        return 0;
    release(list);
    return -1;
}

/* ---- Running hooks ---- */

/* A running command of a hook. */
struct hook_call {
    LIST_ENTRY(hook_call) entry;
    struct hook_runner *runner;
    char watch[ID_RUN_LENGTH + 1];
    json_t *action;
};

int hook_runner_init(struct hook_runner *runner, const char *dir, hook_ended *ended,
                     void *arg, struct error *err)
{
    runner->dir = dir;
    runner->url = NULL;
    runner->ended = ended;
    runner->arg = arg;
    TAILQ_INIT(&runner->calls);
    LIST_INIT(&runner->running);
    return load(&runner->hooks, dir, err);
}

static void call_free(struct hook_call *call)
{
    LIST_REMOVE(call, entry);
    json_decref(call->action);
    free(call);
}

void hook_runner_release(struct hook_runner *runner)
{
    struct hook_call *call;

    engine_calls_abandon(&runner->calls);
    while ((call = LIST_FIRST(&runner->running)))
        call_free(call);
    release(&runner->hooks);
    free(runner->url);
}

void hook_runner_set_server(struct hook_runner *runner, const char *url)
{
    free(runner->url);
    runner->url = memory_text(url, "hooks");
}

int hook_runner_reload(struct hook_runner *runner, struct error *err)
{
    struct hook_list fresh;

    if (load(&fresh, runner->dir, err))
        return -1;
    release(&runner->hooks);
    runner->hooks = fresh;
    return 0;
}

static void end(struct hook_call *call, const char *state, const char *output)
{
    struct hook_runner *runner = call->runner;

    runner->ended(runner->arg, call->watch, call->action, state, output);
    call_free(call);
}

static void on_answer(void *arg, const struct engine_answer *answer)
{
    char output[9000];

    snprintf(output, sizeof(output), "%s%s%s%s%s", answer->has_failed ? answer->why : "",
             answer->has_failed && *answer->text ? ": " : "", answer->text,
             *answer->complaint ? ": " : "", answer->complaint);
    end(arg, answer->is_late ? "killed" : answer->has_failed ? "failed" : "done", output);
}

/* Return the parameters of the hook's templates, a new object. */
static json_t *values_of(const struct hook_runner *runner, const json_t *watch,
                         const json_t *action)
{
    const json_t *nodes = json_object_get(action, "nodes");
    const char *run = json_get_str(action, "run", "");
    struct buf names;
    char url[1200];
    json_t *values;

    buf_init(&names, 1 << 14);
    for (size_t i = 0; i < json_array_size(nodes); i++)
        buf_printf(&names, "%s%s", i ? "," : "",
                   json_string_value(json_array_get(nodes, i)));
    snprintf(url, sizeof(url), "%s/runs/%s", runner->url ? runner->url : "", run);
    values = json_pack(
        "{s:O, s:O, s:O, s:s, s:s, s:s, s:s, s:O}", "event",
        json_object_get(action, "event"), "watch", json_object_get(watch, "id"), "name",
        json_object_get(json_object_get(watch, "request"), "name"), "nodes",
        names.len ? names.data : "", "node", names.len ? names.data : "", "run", run,
        "url", url, "sentence", json_object_get(action, "sentence"));
    buf_release(&names);
    return values;
}

static bool start(struct hook_runner *runner, const struct hook *hook, json_t *values,
                  struct hook_call *call, int64_t now_ms, struct error *err)
{
    char **argv = command_template_argv(hook->argv, values, hook->config_dir, err);
    char **env = command_template_environ(NULL);
    bool is_started =
        argv && engine_call_run(&runner->calls, (int64_t)(hook->command_s * 1000), argv,
                                env, now_ms, on_answer, call, err);

    command_template_free(argv);
    command_template_free(env);
    return is_started;
}

void hook_runner_start(struct hook_runner *runner, const json_t *watch, json_t *action,
                       int64_t now_ms)
{
    const struct hook *hook =
        hook_list_find(&runner->hooks, json_get_str(action, "hook", ""));
    struct hook_call *call = memory_zeroed(1, sizeof(*call), "a hook");
    json_t *values = values_of(runner, watch, action);
    struct error err = {.text = "the hook was removed"};

    json_object_set_new(action, "state", json_string("running"));
    call->runner = runner;
    snprintf(call->watch, sizeof(call->watch), "%s", json_get_str(watch, "id", ""));
    call->action = json_incref(action);
    LIST_INSERT_HEAD(&runner->running, call, entry);
    if (!hook || !start(runner, hook, values, call, now_ms, &err))
        end(call, "failed", err.text);
    json_decref(values);
}
