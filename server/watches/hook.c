/* SPDX-License-Identifier: Apache-2.0 */
/* hook.c - hooks: commands that the server runs when a watch finds something */
#include "server/watches/hook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/command_template.h"
#include "common/spec/config_files.h"
#include "common/spec/spec_field.h"

#define TEXT_MAX 2000

/* What templates may have; `node` in place of `nodes` makes it a hook for each node. */
static const char *const given[] = {"event", "watch", "name",     "nodes",
                                    "run",   "url",   "sentence", "node"};

static void check_on(json_t *on, const char *pointer, struct problems *problems)
{
    json_t *events = json_pack("[s, s, s, s]", "fail", "culprit", "recovered", "stale");
    bool is_right = json_array_size(on) > 0;

    for (size_t i = 0; i < json_array_size(on); i++)
        is_right =
            is_right && json_has_string(events, json_string_value(json_array_get(on, i)));
    if (!is_right)
        problems_add(
            problems, pointer,
            "must be an array of one or more of fail, culprit, recovered, stale");
    json_decref(events);
}

/* check_templates checks those that are NULL here, together. */
#define AT(member) .offset = offsetof(struct hook, member)
#define TEXT(member) .kind = &spec_text, AT(member), .max = TEXT_MAX
#define COUNT(member, low, high)                                                         \
    .kind = &spec_integer, AT(member), .min = (low), .max = (high)
#define JSON(member, checker) .kind = &spec_json, AT(member), .check = (checker)

static const struct spec_field table[] = {
    {"description", NULL, 0, TEXT(description)},
    {"on", NULL, SPEC_REQUIRED, JSON(on, check_on)},
    {"argv", NULL, SPEC_REQUIRED, JSON(argv, NULL)},
    {"env", NULL, 0, JSON(env, NULL)},
    {"undoes", NULL, 0, TEXT(undoes)},
    {"per_hour", "10", 0, COUNT(per_hour, 1, 40)},
    {"most_nodes", NULL, 0, COUNT(most_nodes, 1, 100000)},
    {"command_s", "30", 0, .kind = &spec_real, AT(command_s), .least = 0.1, .most = 3600},
};

static const struct spec_fields fields = {table, sizeof(table) / sizeof(table[0]),
                                          "an object"};

static bool has_node(const json_t *argv)
{
    for (size_t i = 0; i < json_array_size(argv); i++) {
        const char *text = json_string_value(json_array_get(argv, i));

        if (text && strstr(text, "{node}"))
            return true;
    }
    return false;
}

static void check_templates(const struct hook *hook, struct problems *problems)
{
    json_t *names = json_object();

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (strcmp(given[i], hook->is_per_node ? "nodes" : "node") != 0)
            json_object_set_new(names, given[i], json_string(""));
    free(command_template_check(hook->argv, "/argv", names, hook->config_dir, problems));
    json_decref(command_template_env(hook->env, names, hook->config_dir, problems));
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

    hook->name = memory_text(file->name, "a hook");
    hook->config_dir = memory_text(file->dir, "a hook");
    spec_fields_read_into(&fields, file->content, hook, "", problems);
    hook->is_per_node = has_node(hook->argv);
    if (problems->count == 0)
        check_templates(hook, problems);
    list->items[list->n++] = hook;
}

/* A hook that undoes none of the others would never be called. */
static int check_undoes(const struct hook_list *list, struct error *err)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i]->undoes && !hook_list_find(list, list->items[i]->undoes))
            return error_set(err, ERROR_INVALID,
                             "hook %.100s: /undoes: there is no hook %.100s",
                             list->items[i]->name, list->items[i]->undoes);
    return 0;
}

int hook_list_load(struct hook_list *list, const char *dir, struct error *err)
{
    list->n = 0;
    if (!config_files_load(dir, "hooks", HOOKS_MAX, add_file, list, err) &&
        !check_undoes(list, err))
        return 0;
    hook_list_release(list);
    return -1;
}

void hook_list_release(struct hook_list *list)
{
    while (list->n > 0)
        hook_free(list->items[--list->n]);
}

const struct hook *hook_list_find(const struct hook_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i]->name, name) == 0)
            return list->items[i];
    return NULL;
}
