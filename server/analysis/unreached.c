/* SPDX-License-Identifier: Apache-2.0 */
/* unreached.c - reports nodes that could not reach each other, as a preflight finding */
#include "server/analysis/unreached.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/finding/finding.h"
#include "server/finding/template.h"

/* The purpose of an address, and the fix if it is unreachable. */
static const struct {
    const char *over, *what, *command;
} uses[] = {
    {"ranks", "where its ranks listen",
     "start ringbench-agent with --advertise ADDRESS on this node, an address that all "
     "nodes can reach; or allow TCP between the nodes on all ports in firewalls"},
    {"nccl", "where NCCL will listen",
     "\"env\": {\"NCCL_SOCKET_IFNAME\": \"=NAME\"} in the run, where NAME is an "
     "interface that all nodes can reach; or allow TCP over that interface in firewalls"},
};

static const char *text_of(const json_t *way, const char *key)
{
    return json_get_str(way, key, "");
}

static bool is_same(const json_t *a, const json_t *b, const char *key)
{
    return strcmp(text_of(a, key), text_of(b, key)) == 0;
}

bool unreached_add(json_t *ways, json_t *way)
{
    for (size_t i = 0; i < json_array_size(ways); i++) {
        const json_t *one = json_array_get(ways, i);

        if (is_same(one, way, "from") && is_same(one, way, "to") &&
            is_same(one, way, "over"))
            return false;
    }
    return json_array_size(ways) < UNREACHED_WAYS_MAX && !json_array_append(ways, way);
}

/* ---- Nodes to name ---- */

/* Find the node that is most often at this end of a failed path. Return the number of
 * these paths. */
static json_int_t most_common(const json_t *ways, const char *end, const char **node)
{
    json_t *counts = json_object();
    json_int_t most = 0;

    for (size_t i = 0; i < json_array_size(ways); i++) {
        const char *name = text_of(json_array_get(ways, i), end);
        json_int_t n = json_get_int(counts, name, 0) + 1;

        json_object_set_new_nocheck(counts, name, json_integer(n));
        if (n > most)
            *node = name;
        most = n > most ? n : most;
    }
    json_decref(counts);
    return most;
}

/* Move the paths with a node at this end to another list, and set "node" in each path.
 * Return the number of paths. */
static size_t move(json_t *from, json_t *to, const char *end, const char *node)
{
    json_t *rest = json_array(), *way;
    size_t i, n = 0;

    json_array_foreach (from, i, way) {
        if (strcmp(text_of(way, end), node) != 0) {
            json_array_append(rest, way);
            continue;
        }
        way = json_copy(way);
        json_object_set_new(way, "node", json_string(node));
        json_array_append_new(to, way);
        n++;
    }
    json_array_clear(from);
    json_array_extend(from, rest);
    json_decref(rest);
    return n;
}

/* ---- Reporting ---- */

/* Return a check for n paths from index `first` on, which have one end in common. */
static json_t *check_json(const json_t *ways, size_t first, size_t n, const char *end)
{
    const json_t *way = json_array_get(ways, first);
    bool is_to = strcmp(end, "to") == 0;
    size_t use = strcmp(text_of(way, "over"), uses[1].over) == 0;
    json_t *words = json_pack("{s:s, s:I}", "what", uses[use].what,
                              is_to ? "more_from" : "more_to", (json_int_t)n - 1);
    json_t *sentence = template_text(
        "{from}[{more_from?} and {more_from} more] cannot reach {to} at {address}[ "
        "({interface})][{more_to?} and {more_to} more], {what}: {reason}",
        words, way);

    json_decref(words);
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:[s], s:i}", "check", "reach",
                     "severity", "error", "answer", verdict_answer_name(VERDICT_FINDING),
                     "sentence", sentence, "command", uses[use].command, "nodes",
                     text_of(way, "node"), "n_nodes", 1);
}

static json_t *verdict_of(const char *backend, json_t *checks, json_t *ways)
{
    struct finding finding = finding_begin();
    const json_t *check;
    size_t i;

    json_array_foreach (checks, i, check)
        finding_name_all(&finding, json_object_get(check, "nodes"));
    finding_put(&finding, "{s:s, s:i, s:i, s:o, s:o*, s:I, s:O*}", "backend", backend,
                "ok", 0, "not_evaluated", 0, "checks", checks, "ways", ways, "$findings",
                (json_int_t)json_array_size(checks), "$first", json_array_get(checks, 0));
    return finding_end(&finding, MESSAGE_PREFLIGHT_FINDING, NULL);
}

json_t *unreached_verdict(const char *backend, const json_t *ways)
{
    json_t *rest = json_array(), *named = json_array(), *checks = json_array();

    for (size_t i = 0; i < json_array_size(ways); i++)
        json_array_append(rest, json_array_get(ways, i));
    while (json_array_size(rest) > 0 &&
           json_array_size(checks) < UNREACHED_FINDINGS_MAX) {
        const char *to = "", *from = "";
        bool is_to = most_common(rest, "to", &to) >= most_common(rest, "from", &from);
        const char *end = is_to ? "to" : "from";
        size_t first = json_array_size(named);
        size_t n = move(rest, named, end, is_to ? to : from);

        json_array_append_new(checks, check_json(named, first, n, end));
    }
    json_decref(rest);
    return verdict_of(backend, checks, named);
}
