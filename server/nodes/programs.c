/* SPDX-License-Identifier: Apache-2.0 */
/* programs.c - lists the programs that nodes offer, and checks runs against them */
#include "server/nodes/programs.h"

#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/program_schema.h"

static json_t *programs_of(const struct node *node)
{
    return json_object_get(node->inventory, "programs");
}

static json_t *find(const struct node *node, const char *name)
{
    return json_find(programs_of(node), "name", name);
}

static void say_unknown(const struct node *node, const char *name, struct buf *why)
{
    json_t *list = programs_of(node);

    buf_printf(why,
               "; %s: does not offer the program '%s'. Offered programs: ", node->name,
               name);
    for (size_t i = 0; i < json_array_size(list); i++)
        buf_printf(why, "%s%s", i ? ", " : "",
                   json_get_str(json_array_get(list, i), "name", "?"));
    if (json_array_size(list) == 0)
        buf_append_str(why, "none");
}

static bool args_fit(json_t *program, const struct run_spec *spec,
                     struct problems *problems)
{
    json_t *values =
        program_schema_complete(json_object_get(program, "parameters"),
                                spec->program.args, "/program/args", problems);
    bool fit = values != NULL;

    json_decref(values);
    return fit;
}

static void say_problems(const struct node *node, const struct problems *problems,
                         struct buf *why)
{
    for (size_t i = 0; i < json_array_size(problems->errors); i++) {
        const json_t *fault = json_array_get(problems->errors, i);

        buf_printf(why, "; %s: %s %s", node->name, json_get_str(fault, "pointer", ""),
                   json_get_str(fault, "detail", ""));
    }
}

/* Return the number of the node's GPUs. For a node without GPUs, return its number of
 * ranks on the host backend. */
static long ranks_offered(const struct node *node)
{
    long gpus = node_offers(node, "nccl", NULL);

    return gpus > 0 ? gpus : node->ranks;
}

long program_ranks(const struct node *node, const struct run_spec *spec, struct buf *why)
{
    json_t *program = find(node, spec->program.name);
    long offered = ranks_offered(node);
    long declared = (long)json_get_int(program, "ranks_per_node", offered);
    long most = declared > offered ? declared : offered;
    struct problems problems;
    bool fit;

    if (!program) {
        say_unknown(node, spec->program.name, why);
        return 0;
    }
    problems_init(&problems);
    fit = args_fit(program, spec, &problems);
    if (!fit)
        say_problems(node, &problems, why);
    problems_release(&problems);
    if (!fit)
        return 0;
    if (spec->ranks_per_node > most) {
        buf_printf(why, "; %s: offers %ld ranks, %ld requested", node->name, most,
                   spec->ranks_per_node);
        return 0;
    }
    if (declared < 1 && !spec->ranks_per_node)
        buf_printf(why, "; %s: offers no ranks", node->name);
    return spec->ranks_per_node ? spec->ranks_per_node : declared;
}

bool program_args_fit(const struct node_registry *registry, const struct run_spec *spec,
                      struct problems *problems)
{
    struct problems all;
    bool any = false, fit = !spec->program.name;

    problems_init(&all);
    for (size_t i = 0; i < registry->count && !fit; i++) {
        const struct node *node = registry->nodes[i];
        json_t *program =
            node->state == NODE_ALIVE ? find(node, spec->program.name) : NULL;

        if (!program)
            continue;
        /* Report only the errors from the last node, because the nodes usually report the
         * same errors. */
        problems_release(&all);
        problems_init(&all);
        any = true;
        fit = args_fit(program, spec, &all);
    }
    for (size_t i = 0; any && !fit && i < json_array_size(all.errors); i++) {
        const json_t *fault = json_array_get(all.errors, i);

        problems_add(problems, json_get_str(fault, "pointer", ""), "%s",
                     json_get_str(fault, "detail", ""));
    }
    problems_release(&all);
    return fit || !any;
}

/* Return true if the entry without its "nodes" equals this declaration. */
static bool is_same(json_t *entry, json_t *program)
{
    const char *key;
    json_t *value;

    if (json_object_size(entry) != json_object_size(program) + 1)
        return false;
    json_object_foreach (program, key, value)
        if (!json_equal(json_object_get(entry, key), value))
            return false;
    return true;
}

/* Add the node to the entry with the same declaration, or insert a new entry after those
 * with the same name. */
static void add_offer(json_t *out, const struct node *node, json_t *program)
{
    const char *name = json_get_str(program, "name", "");
    json_t *entry;
    size_t at;

    for (at = 0; at < json_array_size(out); at++) {
        int order;

        entry = json_array_get(out, at);
        order = strcmp(json_get_str(entry, "name", ""), name);
        if (order > 0)
            break;
        if (order == 0 && is_same(entry, program)) {
            json_array_append_new(json_object_get(entry, "nodes"),
                                  json_string(node->name));
            return;
        }
    }
    entry = json_copy(program);
    json_object_set_new(entry, "nodes", json_pack("[s]", node->name));
    json_array_insert_new(out, at, entry);
}

json_t *programs_json(const struct node_registry *registry)
{
    json_t *out = json_array();

    for (size_t i = 0; i < registry->count; i++) {
        const struct node *node = registry->nodes[i];
        json_t *list = node->state == NODE_ALIVE ? programs_of(node) : NULL;

        for (size_t k = 0; k < json_array_size(list); k++)
            if (json_get_str(json_array_get(list, k), "name", NULL))
                add_offer(out, node, json_array_get(list, k));
    }
    return out;
}
