/* SPDX-License-Identifier: Apache-2.0 */
/* hook_runner.c - the commands of hooks that are due */
#include "server/watches/hook_runner.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/command_template.h"
#include "server/launch/engine_call.h"
#include "server/watches/actions.h"

/* A command that runs. */
struct hook_call {
    LIST_ENTRY(hook_call) entry;
    struct hook_runner *runner;
    char watch[ID_RUN_LENGTH + 1];
    json_t *action;
};

struct hook_runner {
    struct hook_list hooks;
    char *dir, *url;
    hook_runner_ended *ended;
    void *arg;
    struct engine_calls calls;
    LIST_HEAD(, hook_call) hook_calls; /* of these commands */
};

struct hook_runner *hook_runner_create(const char *dir, hook_runner_ended *ended,
                                       void *arg, struct error *err)
{
    struct hook_runner *runner = memory_zeroed(1, sizeof(*runner), "hooks");

    runner->dir = memory_text(dir, "hooks");
    runner->url = memory_text("", "hooks");
    runner->ended = ended;
    runner->arg = arg;
    TAILQ_INIT(&runner->calls);
    LIST_INIT(&runner->hook_calls);
    if (!hook_list_load(&runner->hooks, dir, err))
        return runner;
    hook_runner_free(runner);
    return NULL;
}

static void call_free(struct hook_call *call)
{
    LIST_REMOVE(call, entry);
    json_decref(call->action);
    free(call);
}

void hook_runner_free(struct hook_runner *runner)
{
    struct hook_call *call;

    if (!runner)
        return;
    engine_calls_abandon(&runner->calls);
    while ((call = LIST_FIRST(&runner->hook_calls)))
        call_free(call);
    hook_list_release(&runner->hooks);
    free(runner->dir);
    free(runner->url);
    free(runner);
}

void hook_runner_set_server(struct hook_runner *runner, const char *url)
{
    free(runner->url);
    runner->url = memory_text(url, "hooks");
}

int hook_runner_reload(struct hook_runner *runner, struct error *err)
{
    struct hook_list fresh;

    if (hook_list_load(&fresh, runner->dir, err))
        return -1;
    hook_list_release(&runner->hooks);
    runner->hooks = fresh;
    return 0;
}

const struct hook_list *hook_runner_hooks(const struct hook_runner *runner)
{
    return &runner->hooks;
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

/* All that a hook's templates may have. */
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
    snprintf(url, sizeof(url), "%s/#/runs/%s", runner->url, run);
    values = json_pack(
        "{s:O, s:O, s:O, s:s, s:s, s:s, s:s, s:O}", "event",
        json_object_get(action, "event"), "watch", json_object_get(watch, "id"), "name",
        json_object_get(json_object_get(watch, "request"), "name"), "nodes",
        names.len ? names.data : "", "node", names.len ? names.data : "", "run", run,
        "url", url, "sentence", json_object_get(action, "sentence"));
    buf_release(&names);
    return values;
}

static int start(struct hook_runner *runner, const struct hook *hook, json_t *values,
                 struct hook_call *call, int64_t now_ms, struct error *err)
{
    char **argv = command_template_argv(hook->argv, values, hook->config_dir, err);
    struct problems problems;
    json_t *own;
    char **env;
    int result = -1;

    problems_init(&problems);
    own = command_template_env(hook->env, values, hook->config_dir, &problems);
    env = command_template_environ(own);
    if (argv && engine_call_run(&runner->calls, (int64_t)(hook->command_s * 1000), argv,
                                env, now_ms, on_answer, call, err))
        result = 0;
    problems_release(&problems);
    json_decref(own);
    command_template_free(argv);
    command_template_free(env);
    return result;
}

void hook_runner_start(struct hook_runner *runner, const json_t *watch, int64_t now_ms)
{
    struct error err = {.text = "there is no such hook any more"};
    json_t *action, *values;

    while ((action = actions_due(watch))) {
        const struct hook *hook =
            hook_list_find(&runner->hooks, json_get_str(action, "hook", ""));
        struct hook_call *call = memory_zeroed(1, sizeof(*call), "a hook");

        json_object_set_new(action, "state", json_string("running"));
        call->runner = runner;
        snprintf(call->watch, sizeof(call->watch), "%s", json_get_str(watch, "id", ""));
        call->action = json_incref(action);
        LIST_INSERT_HEAD(&runner->hook_calls, call, entry);
        values = values_of(runner, watch, action);
        if (!hook || start(runner, hook, values, call, now_ms, &err))
            end(call, "failed", err.text);
        json_decref(values);
    }
}

void hook_runner_tick(struct hook_runner *runner, int64_t now_ms)
{
    engine_calls_tick(&runner->calls, now_ms);
}
