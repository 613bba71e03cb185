/* transport_findings.c - findings as they are gathered */
#include "server/analysis/transport_findings.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/transport_host.h"

struct transport_finding *transport_new_finding(struct findings *findings, json_t *what)
{
    struct transport_finding *one = &findings->all[findings->n];

    if (findings->n == TRANSPORT_FINDINGS_MAX)
        return NULL;
    one->nodes =
        memory_zeroed(findings->t->n_nodes + 1, sizeof(*one->nodes), "a finding");
    one->what = json_incref(what);
    findings->n++;
    return one;
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

void transport_finding_line(struct transport_finding *one, int line)
{
    bool has_it = line == TRANSPORT_NONE || one->n_lines == TRANSPORT_LINES_QUOTED;

    for (size_t i = 0; i < one->n_lines; i++)
        has_it = has_it || one->lines[i] == line;
    if (!has_it)
        one->lines[one->n_lines++] = line;
}

json_t *transport_lines_json(const struct transport *t,
                             const struct transport_finding *one)
{
    json_t *out = json_array();

    for (size_t i = 0; i < one->n_lines; i++)
        json_array_append_new(out, json_clean_string(t->texts.at[one->lines[i]]));
    return out;
}

struct transport_finding *transport_finding_of(struct findings *findings,
                                               const char *about, const char *text)
{
    json_t *what =
        json_pack("{s:s, s:o}", "about", about, "text", json_clean_string(text));
    struct transport_finding *one = NULL;

    for (size_t i = 0; !one && i < findings->n; i++)
        if (json_equal(findings->all[i].what, what))
            one = &findings->all[i];
    if (!one)
        one = transport_new_finding(findings, what);
    json_decref(what);
    return one;
}

const json_t *transport_facts_of(const struct transport *t,
                                 const struct transport_said *said)
{
    return said->facts == TRANSPORT_NONE
               ? NULL
               : json_array_get(t->facts.all, (size_t)said->facts);
}

bool transport_is_network(const struct transport *t, const json_t *way)
{
    return t->host ? transport_host_leaves(way)
                   : strncmp(json_get_str(way, "via", ""), "NET/", 4) == 0;
}
