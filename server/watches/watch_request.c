/* SPDX-License-Identifier: Apache-2.0 */
/* watch_request.c - what a watch is asked to do */
#include "server/watches/watch_request.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/batch_group.h"
#include "common/spec/run_spec.h"
#include "server/watches/chain.h"

const char *const watch_modes[] = {"observe", "act", NULL};

/* watch_request_check checks what is JSON here. */
#define AT(member) .offset = offsetof(struct watch_request, member)
#define JSON(member) .kind = &spec_json, AT(member)

static const struct spec_field table[] = {
    {"name", NULL, SPEC_REQUIRED, .kind = &spec_text, AT(name), .max = WATCH_NAME_MAX},
    {"spec", NULL, SPEC_REQUIRED, JSON(spec)},
    {"every", NULL, SPEC_REQUIRED, JSON(every)},
    {"window", NULL, 0, JSON(window)},
    {"nodes_at_once", NULL, 0, .kind = &spec_integer, AT(nodes_at_once), .min = 1,
     .max = 100000},
    {"idle_only", "true", 0, .kind = &spec_boolean, AT(idle_only)},
    {"mode", "\"observe\"", 0, .kind = &spec_choice, AT(mode), .choices = watch_modes},
};

const struct spec_fields watch_request_fields = {
    table, sizeof(table) / sizeof(table[0]),
    "an object such as {\"name\": \"nightly\", \"every\": \"24h\", \"spec\": {}}"};

void watch_request_check(struct watch_request *request, const struct run_spec *spec,
                         struct problems *problems)
{
    if (request->every)
        calendar_read_every(&request->calendar, request->every, "/every", problems);
    calendar_read_window(&request->calendar, request->window, "/window", problems);
    if (spec && !spec->launch.name && spec->nodes.count)
        problems_add(problems, "/spec/nodes/count",
                     "is for a launcher; a watch measures all nodes that names, group "
                     "and labels select, nodes_at_once of them at a time");
    if (spec && spec->launch.name && request->nodes_at_once)
        problems_add(problems, "/nodes_at_once",
                     "does not go with launch; /spec/nodes/count says how many");
    if (spec && spec->avoid_suspects)
        problems_add(problems, "/spec/avoid_suspects",
                     "must be false: a watch measures suspects until they pass");
}

json_t *watch_request_json(const struct watch_request *request)
{
    return spec_fields_show(&watch_request_fields,
                            (const struct run_spec *)(const void *)request, 0, 0);
}

void watch_request_release(struct watch_request *request)
{
    spec_fields_release(&watch_request_fields, (struct run_spec *)(void *)request);
}

static bool is_selected(const struct node *node, const json_t *wanted)
{
    const char *group = json_get_str(wanted, "group", NULL);

    return node->state != NODE_LEFT &&
           (group ? strcmp(node->group, group) == 0 : !job_group(node->group)) &&
           node_has_labels(node, json_object_get(wanted, "labels"));
}

json_t *watch_request_nodes(const struct watch_request *request,
                            const struct node_registry *registry)
{
    const json_t *wanted = json_object_get(request->spec, "nodes");
    json_t *names = json_object_get(wanted, "names"), *out;

    if (names)
        return json_copy(names);
    out = json_array();
    for (size_t i = 0; i < registry->count && !json_object_get(request->spec, "launch");
         i++)
        if (is_selected(registry->nodes[i], wanted))
            json_array_append_new(out, json_string(registry->nodes[i]->name));
    return out;
}

void watch_request_mark(json_t *spec, const char *watch)
{
    json_t *labels = json_copy(json_object_get(spec, "labels"));

    if (!labels)
        labels = json_object();
    json_object_set_new(labels, WATCH_LABEL, json_string(watch));
    json_object_set_new(spec, "labels", labels);
    json_object_set_new(spec, "background", json_true());
}

/* Of a run over all of its nodes that names no reference, the latest ones like it are it.
 */
static bool lacks_baseline(const json_t *spec)
{
    return !json_object_get(spec, "baseline") && !json_object_get(spec, "program") &&
           !json_object_get(spec, "matrix") &&
           strcmp(json_get_str(spec, "pattern", "all"), "all") == 0;
}

json_t *watch_request_pairs(const struct watch_request *request, const json_t *nodes)
{
    json_t *list = json_array(), *run, *out;
    struct problems problems;
    struct run_spec *spec;

    for (size_t i = 0; i < json_array_size(nodes); i++)
        json_array_append_new(list, json_pack("{s:O}", "name", json_array_get(nodes, i)));
    problems_init(&problems);
    spec = run_spec_parse(request->spec, &problems);
    problems_release(&problems);
    run = json_pack("{s:s, s:s, s:o*, s:o, s:s}", "id", request->name, "ended", "",
                    "spec", spec ? run_spec_to_json(spec) : NULL, "nodes", list,
                    "backend", spec ? spec->backend : "auto");
    out = chain_pairs(run);
    run_spec_destroy(spec);
    json_decref(run);
    return out;
}

json_t *watch_request_spec(const struct watch_request *request, json_t *nodes)
{
    json_t *spec = json_copy(request->spec);

    if (!*json_get_str(spec, "name", ""))
        json_object_set_new(spec, "name", json_string(request->name));
    if (json_array_size(nodes) > 0)
        json_object_set_new(
            spec, "nodes",
            json_pack(
                "{s:O, s:O*}", "names", nodes, "wait_s",
                json_object_get(json_object_get(request->spec, "nodes"), "wait_s")));
    if (lacks_baseline(spec))
        json_object_set_new(spec, "baseline",
                            json_pack("{s:i}", "last", WATCH_BASELINE_RUNS));
    return spec;
}
