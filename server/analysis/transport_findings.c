/* SPDX-License-Identifier: Apache-2.0 */
/* transport_findings.c - collects transport findings */
#include "server/analysis/transport_findings.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"

struct transport_finding *transport_finding_with(struct findings *findings,
                                                 const json_t *what)
{
    struct transport_finding *one = &findings->all[findings->n];

    for (size_t i = 0; i < findings->n; i++)
        if (findings->all[i].what == what)
            return &findings->all[i];
    if (findings->n == TRANSPORT_FINDINGS_MAX)
        return NULL;
    one->nodes =
        memory_zeroed(findings->t->n_nodes + 1, sizeof(*one->nodes), "a finding");
    one->what = what;
    findings->n++;
    return one;
}

struct transport_finding *transport_finding_of(struct findings *findings,
                                               const char *about, const char *text)
{
    json_t *what =
        json_pack("{s:s, s:o}", "about", about, "text", json_clean_string(text));
    const json_t *kept = transport_kept(findings->t, what);

    json_decref(what);
    return transport_finding_with(findings, kept);
}

void transport_finding_node(struct transport_finding *one, int node)
{
    size_t n = one ? one->n_nodes : 0;

    if (!one || (n > 0 && one->nodes[n - 1] == node))
        return;
    for (size_t i = 0; i < n; i++)
        if (one->nodes[i] == node)
            return;
    one->nodes[one->n_nodes++] = node;
}

void transport_finding_line(struct transport_finding *one, const char *line)
{
    bool has_it = !line || one->n_lines == TRANSPORT_LINES_QUOTED;

    for (size_t i = 0; i < one->n_lines; i++)
        has_it = has_it || one->lines[i] == line;
    if (!has_it)
        one->lines[one->n_lines++] = line;
}

json_t *transport_lines_json(const struct transport_finding *one)
{
    json_t *out = json_array();

    for (size_t i = 0; i < one->n_lines; i++)
        json_array_append_new(out, json_clean_string(one->lines[i]));
    return out;
}

bool transport_is_network(const struct transport *t, const json_t *way)
{
    return t->host ? strcmp(json_get_str(way, "kind", ""), "shm") != 0
                   : strncmp(json_get_str(way, "via", ""), "NET/", 4) == 0;
}
