/* SPDX-License-Identifier: Apache-2.0 */
/* transport_verdicts.c - combines the findings of all processes into verdicts */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/nccl_hca.h"
#include "server/analysis/transport_findings.h"
#include "server/finding/finding.h"

/* Return true if another node lacks the finding's HCA. A channel over that HCA then has
 * no peer, so this node is not at fault. */
static bool has_no_partner(const struct transport *t, int node, const json_t *what)
{
    const char *device = json_get_str(what, "device", NULL);

    for (size_t i = 0; device && i < t->n_nodes; i++)
        if ((int)i != node && transport_lacks_hca(t, (int)i, node, device))
            return true;
    return false;
}

static void add_found(struct findings *findings, const struct transport_report *report,
                      const struct transport_found *found)
{
    struct transport_finding *one;

    if ((found->unless_receives && findings->receives[report->node]) ||
        has_no_partner(findings->t, report->node, found->what))
        return;
    one = transport_finding_with(findings, found->what);
    if (!one)
        return;
    transport_finding_node(one, report->node);
    transport_finding_line(one, found->line);
}

/* ---- The ports of all nodes ---- */

static bool is_state(const json_t *port, const char *state)
{
    return strcasecmp(json_get_str(port, "state", ""), state) == 0;
}

static bool is_listed(const char *value, const json_t *port, bool is_whole)
{
    return nccl_hca_has(value, json_get_str(port, "name", ""),
                        (int)json_get_int(port, "port", 1), is_whole);
}

static bool explain_by(const json_t *port, const char *hca, const char *name, char *out,
                       size_t size)
{
    const char *device = json_get_str(port, "name", "?");

    if (is_listed(hca, port, false) && !is_state(port, "active"))
        snprintf(out, size, "%s is %s", device, json_get_str(port, "state", "?"));
    else if (strcmp(json_get_str(port, "netdev", ""), name) == 0)
        snprintf(out, size, "%s is the network interface of %s", name, device);
    else
        return false;
    return true;
}

/* Describe what NCCL_IB_HCA refers to, from the first node that has a matching port.
 * name: the first name in NCCL_IB_HCA. */
static void explain_hca(const struct transport *t, const char *hca, const char *name,
                        char *out, size_t size)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        for (size_t k = 0; k < json_array_size(t->ports[i]); k++)
            if (explain_by(json_array_get(t->ports[i], k), hca, name, out, size))
                return;
}

/* Append a finding's text, with an explanation of NCCL_IB_HCA if needed. */
static void put_what(const struct transport *t, const json_t *what, struct buf *out)
{
    const char *hca = json_get_str(what, "hca", NULL);
    const char *name = json_get_str(what, "name", "");
    char why[200] = "";

    buf_printf(out, "%s", json_get_str(what, "text", ""));
    if (!hca)
        return;
    explain_hca(t, hca, name, why, sizeof(why));
    if (!why[0] && json_get_bool(what, "is_interface", false))
        snprintf(why, sizeof(why), "%s is a network interface", name);
    buf_printf(out, "%s%s%s: %s", why[0] ? " (" : "", why, why[0] ? ")" : "",
               json_get_str(what, "rest", ""));
}

static void port_key(const json_t *port, char *out, size_t size)
{
    snprintf(out, size, "%.60s:%d", json_get_str(port, "name", "?"),
             (int)json_get_int(port, "port", 1));
}

/* Return the number of nodes on which each port is active. The key is port_key(). */
static json_t *count_active(const struct transport *t)
{
    json_t *counts = json_object(), *port;
    char key[80];
    size_t k;

    for (size_t i = 0; i < t->n_nodes; i++)
        json_array_foreach (t->ports[i], k, port) {
            port_key(port, key, sizeof(key));
            if (is_state(port, "active"))
                json_object_set_new(counts, key,
                                    json_integer(json_get_int(counts, key, 0) + 1));
        }
    return counts;
}

/* Return true if a port is down but should be active, because the user named the port or
 * most other nodes use it. Other ports may be unused. */
static bool is_missed(const json_t *port, const char *hca, const json_t *active,
                      size_t n_nodes)
{
    char key[80];

    port_key(port, key, sizeof(key));
    return is_state(port, "down") &&
           nccl_hca_allows(hca, json_get_str(port, "name", ""),
                           (int)json_get_int(port, "port", 1)) &&
           ((*hca != '^' && is_listed(hca, port, true)) ||
            2 * json_get_int(active, key, 0) > (int64_t)n_nodes - 1);
}

static void check_ports(struct findings *findings, const json_t *folded)
{
    const struct transport *t = findings->t;
    const char *hca = json_get_str(json_object_get(folded, "settings"), "NCCL_IB_HCA",
                                   json_get_str(findings->input->env, "NCCL_IB_HCA", ""));
    json_t *active = count_active(t), *port;
    size_t k;

    for (size_t i = 0; i < t->n_nodes; i++)
        json_array_foreach (t->ports[i], k, port) {
            char text[100];

            if (!is_missed(port, hca, active, t->n_nodes))
                continue;
            snprintf(text, sizeof(text), "%.80s is DOWN",
                     json_get_str(port, "name", "?"));
            transport_finding_node(transport_finding_of(findings, "port_down", text),
                                   (int)i);
        }
    json_decref(active);
}

/* ---- Settings ---- */

/* Return true if NCCL logs the variable when it reads the variable. NCCL does not log
 * some variables. */
static bool is_logged(const char *name)
{
    static const char *const silent[] = {"NCCL_DEBUG", "NCCL_CONF",   "NCCL_NET",
                                         "NCCL_RAS",   "NCCL_NVTX",   "NCCL_PROFILE",
                                         "NCCL_TUNER", "NCCL_HOSTID", "NCCL_NET_PLUGIN"};

    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
        size_t len = strlen(silent[i]);

        if (strncmp(name, silent[i], len) == 0 &&
            (name[len] == '\0' || (name[len] == '_' && i != 2)))
            return false;
    }
    return strncmp(name, "NCCL_", 5) == 0;
}

/* Report variables that the log does not mention. A log without any setting proves
 * nothing, because NCCL may not log settings. */
static void check_unread(struct findings *findings, const json_t *folded)
{
    json_t *settings = json_object_get(folded, "settings"), *value;
    const char *name;

    if (json_object_size(settings) == 0)
        return;
    json_object_foreach (findings->input->env, name, value) {
        char text[TRANSPORT_WHAT_MAX];

        if (!json_is_string(value) || !is_logged(name) || json_object_get(settings, name))
            continue;
        snprintf(text, sizeof(text),
                 "%.200s=%.100s was set, but NCCL's log does not mention it", name,
                 json_string_value(value));
        transport_finding_of(findings, "setting", text);
    }
}

/* ---- Odd nodes ---- */

/* Return the network of most processes, such as "NET/IB". Return NULL if most use sockets
 * or there is no majority. */
static const char *usual_network(const struct transport *t, const size_t *order)
{
    const char *usual = NULL;
    size_t n = 0;

    for (size_t i = 0; i < t->n_reports; i++) {
        const struct transport_report *report = &t->reports[order[i]];

        if (!report->network || report->by_sockets)
            continue;
        usual = report->network;
        n++;
    }
    return 2 * n > t->n_reports ? usual : NULL;
}

static void check_odd(struct findings *findings, const struct transport_report *report,
                      const char *usual)
{
    char text[120];

    if (!usual || !report->by_sockets)
        return;
    snprintf(text, sizeof(text), "sockets, while most use NET/%.60s", usual);
    transport_finding_node(transport_finding_of(findings, "odd_node", text),
                           report->node);
}

static bool crosses_nodes(const struct transport *t, const json_t *folded)
{
    const json_t *ways = json_object_get(folded, "ways");

    for (size_t i = 0; i < json_array_size(ways); i++)
        if (transport_is_network(t, json_array_get(ways, i)))
            return true;
    return false;
}

static void look(struct findings *findings, const json_t *folded)
{
    const struct transport *t = findings->t;
    const char *usual = usual_network(t, findings->order);

    for (size_t i = 0; i < t->n_reports; i++)
        if (t->reports[i].receives)
            findings->receives[t->reports[i].node] = true;
    for (size_t i = 0; i < t->n_reports; i++) {
        const struct transport_report *report = &t->reports[findings->order[i]];

        for (size_t k = 0; k < report->n_first; k++)
            add_found(findings, report, &report->found[k]);
        check_odd(findings, report, usual);
        for (size_t k = report->n_first; k < report->n_found; k++)
            add_found(findings, report, &report->found[k]);
    }
    if (!t->host && crosses_nodes(t, folded))
        check_ports(findings, folded);
    check_unread(findings, folded);
    if (!t->host)
        transport_differ(findings);
    if (!t->host)
        transport_absent(findings);
}

/* ---- Verdicts ---- */

static json_t *finding_verdict(const struct findings *findings,
                               const struct transport_finding *one)
{
    const char *about = json_get_str(one->what, "about", "");
    struct finding finding = finding_begin();
    struct buf what;

    for (size_t i = 0; i < one->n_nodes; i++)
        finding_name(&finding, json_string_value(json_array_get(findings->names,
                                                                (size_t)one->nodes[i])));
    buf_init(&what, 4096);
    put_what(findings->t, one->what, &what);
    finding_put(&finding, "{s:s, s:o, s:b}", "about", about, "log",
                transport_lines_json(one), "$is_odd", strcmp(about, "odd_node") == 0);
    finding_set_text(&finding, "$what", what.data ? what.data : "");
    buf_release(&what);
    return finding_end(&finding, MESSAGE_WAY_FINDING, findings->input->mark);
}

/* Return the position of a finding: causes come first and consequences last. Findings
 * with the same position keep their order. */
static int order_of(const struct transport_finding *one)
{
    const char *about = json_get_str(one->what, "about", "");

    if (json_get_bool(one->what, "is_echo", false))
        return 2;
    return strcmp(about, "init") == 0 || strcmp(about, "warning") == 0 ||
                   strcmp(about, "rank") == 0
               ? 0
               : 1;
}

static bool has_peers(const struct findings *findings)
{
    bool has_peers = findings->n_comms == 0;

    for (size_t i = 0; i < findings->n_comms; i++)
        has_peers = has_peers || findings->comms[i].ranks != 1;
    return has_peers;
}

static void fill(struct findings *findings, const json_t *folded, json_t *verdicts)
{
    char foreign[TRANSPORT_NAME_MAX];
    bool is_foreign = !findings->t->host && transport_foreign(findings, foreign);

    if (!is_foreign)
        look(findings, folded);
    for (int order = 0; order < 3; order++)
        for (size_t i = 0; i < findings->n; i++)
            if (order_of(&findings->all[i]) == order)
                json_array_append_new(verdicts,
                                      finding_verdict(findings, &findings->all[i]));
    if (json_array_size(verdicts) == 0 && has_peers(findings))
        json_array_append_new(
            verdicts,
            transport_ways_verdict(findings, folded, is_foreign ? foreign : NULL));
}

json_t *transport_verdicts(struct transport *t, const struct transport_input *input,
                           const size_t *order, const struct transport_comm *comms,
                           size_t n_comms, const json_t *folded)
{
    struct findings *findings = memory_zeroed(1, sizeof(*findings), "findings");
    json_t *verdicts = json_array();

    *findings =
        (struct findings){.t = t,
                          .input = input,
                          .order = order,
                          .comms = comms,
                          .n_comms = n_comms,
                          .names = json_object_get(folded, "nodes"),
                          .receives = memory_zeroed(
                              t->n_nodes + 1, sizeof(*findings->receives), "findings")};
    fill(findings, folded, verdicts);
    for (size_t i = 0; i < findings->n; i++)
        free(findings->all[i].nodes);
    free(findings->receives);
    free(findings);
    return verdicts;
}
