/* SPDX-License-Identifier: Apache-2.0 */
/* transport_differ.c - finds nodes that differ from most others, from NCCL's log */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/transport_findings.h"

#define VALUE_MAX 200

/* ---- One value per node ---- */

/* Return an array with one text per node, initially null. */
static json_t *column_create(size_t n)
{
    json_t *column = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(column, json_null());
    return column;
}

static const char *text_at(const json_t *column, size_t node)
{
    return json_string_value(json_array_get(column, node));
}

/* Set a node's value. If the node's processes report different values, for example for
 * the HCA, combine these values. */
static void column_add(json_t *column, int node, const char *value)
{
    const char *before = text_at(column, (size_t)node);
    char joined[VALUE_MAX];

    if (before &&
        (strcmp(before, value) == 0 || (strstr(before, " | ") && strstr(before, value))))
        return;
    if (before)
        snprintf(joined, sizeof(joined), "%.90s | %.90s", before, value);
    json_array_set_new(column, (size_t)node, json_clean_string(before ? joined : value));
}

/* Return the value that more than half of the nodes with a value share, or NULL. In Boyer
 * and Moore's majority vote, different values cancel each other. Only the value that
 * remains can have the majority. */
static const char *usual_of(const json_t *column)
{
    const char *usual = NULL;
    size_t votes = 0, n = 0, has_it = 0;

    for (size_t i = 0; i < json_array_size(column); i++) {
        const char *value = text_at(column, i);

        if (!value)
            continue;
        if (votes == 0)
            usual = value;
        votes += strcmp(value, usual) == 0 ? 1 : (size_t)-1;
        n++;
    }
    for (size_t i = 0; usual && i < json_array_size(column); i++)
        has_it += text_at(column, i) && strcmp(text_at(column, i), usual) == 0;
    return 2 * has_it > n ? usual : NULL;
}

/* Report two nodes that differ. Neither of them is the odd one. */
static void compare_two(struct findings *findings, const json_t *column, const char *what)
{
    size_t seen[2], n = 0;
    char text[TRANSPORT_WHAT_MAX];
    struct transport_finding *one;

    for (size_t i = 0; i < json_array_size(column) && n < 3; i++)
        if (text_at(column, i) && n++ < 2)
            seen[n - 1] = i;
    if (n != 2 || strcmp(text_at(column, seen[0]), text_at(column, seen[1])) == 0)
        return;
    snprintf(text, sizeof(text), "%s differs (%.150s; %.150s)", what,
             text_at(column, seen[0]), text_at(column, seen[1]));
    one = transport_finding_of(findings, "differs", text);
    transport_finding_node(one, (int)seen[0]);
    transport_finding_node(one, (int)seen[1]);
}

/* Report nodes that differ from the majority. */
static void name_odd(struct findings *findings, const json_t *column, const char *what)
{
    const char *usual = usual_of(column);

    for (size_t i = 0; usual && i < json_array_size(column); i++) {
        const char *value = text_at(column, i);
        char text[TRANSPORT_WHAT_MAX];

        if (!value || strcmp(value, usual) == 0)
            continue;
        snprintf(text, sizeof(text), "%s is %.150s, while most nodes have %.150s", what,
                 value, usual);
        transport_finding_node(transport_finding_of(findings, "differs", text), (int)i);
    }
}

/* ---- Comparisons ---- */

static void compare_fact(struct findings *findings, const char *key, const char *what)
{
    const struct transport *t = findings->t;
    json_t *column = column_create(t->n_nodes);

    for (size_t i = 0; i < t->n_reports; i++) {
        const struct transport_report *report = &t->reports[findings->order[i]];
        const char *value = json_get_str(report->facts, key, NULL);

        if (value)
            column_add(column, report->node, value);
    }
    name_odd(findings, column, what);
    if (strcmp(key, "version") == 0)
        compare_two(findings, column, what);
    json_decref(column);
}

/* Return true if processes read the setting to choose or use their network. */
static bool decides_network(const char *name)
{
    return strncmp(name, "NCCL_IB_", 8) == 0 || strncmp(name, "NCCL_NET", 8) == 0 ||
           strncmp(name, "NCCL_SOCKET_", 12) == 0;
}

/* Return true if the setting names hardware or files of a machine, which may differ
 * between two nodes. */
static bool names_hardware(const char *name)
{
    static const char *const names[] = {"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA",
                                        "NCCL_HOSTID", "NCCL_TOPO_FILE",
                                        "NCCL_TOPO_DUMP_FILE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Compare a setting. The setting counts as absent on a node if a process chose a network
 * and no process logged the setting. Processes without a network do not read network
 * settings. */
static void compare_setting(struct findings *findings, const char *name)
{
    const struct transport *t = findings->t;
    json_t *column = column_create(t->n_nodes);
    bool has_absent = false;

    for (size_t i = 0; i < t->n_reports; i++) {
        const struct transport_report *report = &t->reports[findings->order[i]];
        const json_t *settings = json_object_get(report->facts, "settings");
        const char *value = json_get_str(settings, name, NULL);

        if (value)
            column_add(column, report->node, value);
    }
    for (size_t i = 0; i < t->n_reports && decides_network(name); i++) {
        const struct transport_report *report = &t->reports[i];

        if (!text_at(column, (size_t)report->node) &&
            json_object_get(report->facts, "network")) {
            column_add(column, report->node, "not in the log");
            has_absent = true;
        }
    }
    name_odd(findings, column, name);
    if (!names_hardware(name) || has_absent)
        compare_two(findings, column, name);
    json_decref(column);
}

static void compare_settings(struct findings *findings)
{
    const struct transport *t = findings->t;
    json_t *names = json_object(), *value;
    const char *name;

    for (size_t i = 0; i < t->n_reports; i++)
        json_object_update_missing(names,
                                   json_object_get(t->reports[i].facts, "settings"));
    json_object_foreach (names, name, value)
        if (strncmp(name, "NCCL_DEBUG", 10) != 0) /* logging settings are no fault */
            compare_setting(findings, name);
    json_decref(names);
}

/* ---- HCAs ---- */

static const json_t *hcas_of(const struct transport *t, int node)
{
    for (size_t i = 0; i < t->n_reports; i++)
        if (t->reports[i].node == node && json_object_get(t->reports[i].facts, "hcas"))
            return json_object_get(t->reports[i].facts, "hcas");
    return NULL;
}

bool transport_lacks_hca(const struct transport *t, int node, int other, const char *name)
{
    const json_t *hcas = hcas_of(t, node);

    return hcas && !json_find(hcas, "name", name) &&
           json_array_size(hcas) < json_array_size(hcas_of(t, other));
}

/* Write "2 (mlx5_0/IB, mlx5_1/IB)". */
static void list_hcas(const json_t *hcas, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%zu (", json_array_size(hcas));

    for (size_t i = 0; i < json_array_size(hcas) && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%.30s/%.12s", i ? ", " : "",
                              json_get_str(json_array_get(hcas, i), "name", "?"),
                              json_get_str(json_array_get(hcas, i), "link", "?"));
    if (n < size)
        snprintf(out + n, size - n, ")");
}

/* Write the number of HCAs for each link type, as in "2 IB, 1 others". */
static void count_hcas(const json_t *hcas, char *out, size_t size)
{
    size_t n_ib = 0, n = json_array_size(hcas);

    for (size_t i = 0; i < n; i++)
        n_ib += strcmp(json_get_str(json_array_get(hcas, i), "link", ""), "IB") == 0;
    snprintf(out, size, "%zu IB, %zu others", n_ib, n - n_ib);
}

static bool has_finding(const struct findings *findings, const char *about, int node)
{
    for (size_t i = 0; i < findings->n; i++)
        for (size_t k = 0; k < findings->all[i].n_nodes; k++)
            if (findings->all[i].nodes[k] == node &&
                strcmp(json_get_str(findings->all[i].what, "about", ""), about) == 0)
                return true;
    return false;
}

/* Report how a node's HCAs differ from those of a typical node or, if there are only two
 * nodes, from those of the other node. */
static void found_hcas(struct findings *findings, int node, int usual, bool is_most)
{
    char own[VALUE_MAX], others[VALUE_MAX], text[TRANSPORT_WHAT_MAX];

    list_hcas(hcas_of(findings->t, node), own, sizeof(own));
    list_hcas(hcas_of(findings->t, usual), others, sizeof(others));
    snprintf(text, sizeof(text), "NCCL found HCAs: %.150s, while %s %.150s", own,
             is_most ? "most nodes have" : "the other node has", others);
    transport_finding_node(transport_finding_of(findings, "differs", text), node);
}

/* Compare the number of HCAs and their links. Names and order may differ between
 * machines. */
static void compare_hcas(struct findings *findings)
{
    const struct transport *t = findings->t;
    json_t *column = column_create(t->n_nodes);
    const char *usual;
    size_t most = 0, n_compared = 0;

    for (size_t i = 0; i < t->n_nodes; i++) {
        const json_t *hcas = hcas_of(t, (int)i);
        char count[64];

        /* Skip nodes whose HCAs could not be opened, which is already reported. */
        if (!hcas || has_finding(findings, "hca", (int)i))
            continue;
        count_hcas(hcas, count, sizeof(count));
        column_add(column, (int)i, count);
        if (n_compared++ == 0 ||
            json_array_size(hcas) > json_array_size(hcas_of(t, (int)most)))
            most = i;
    }
    usual = usual_of(column);
    /* Of two nodes, the one with fewer HCAs is the odd one. */
    if (!usual && n_compared == 2)
        usual = text_at(column, most);
    for (size_t i = 0; i < t->n_nodes && usual; i++)
        if (text_at(column, i) && strcmp(text_at(column, i), usual) == 0)
            most = i;
    for (size_t i = 0; i < t->n_nodes && usual; i++)
        if (text_at(column, i) && strcmp(text_at(column, i), usual) != 0)
            found_hcas(findings, (int)i, (int)most, n_compared > 2);
    json_decref(column);
}

/* Report a node that uses only one of several HCAs. NCCL spreads several channels over
 * the HCAs of one kind near the node's GPUs. With as many ranks as HCAs, NCCL uses all of
 * them. */
static void check_single_hca(struct findings *findings, int node)
{
    const struct transport *t = findings->t;
    size_t n_ranks = 0, n_net = 0;
    int64_t n_hcas = 0, n_channels = 0;
    const char *used = NULL;
    char text[TRANSPORT_WHAT_MAX];

    for (size_t i = 0; i < t->n_reports; i++) {
        const struct transport_report *report = &t->reports[i];

        if (report->node != node)
            continue;
        n_ranks++;
        if (!report->hca)
            continue;
        if (report->has_more_hcas || (used && report->hca != used))
            return;
        used = report->hca;
        n_net++;
        n_hcas = report->n_hcas > n_hcas ? report->n_hcas : n_hcas;
        n_channels = report->n_channels > n_channels ? report->n_channels : n_channels;
    }
    if ((int64_t)n_ranks < n_hcas || n_net < 2 || n_hcas < 2 || n_channels < 2)
        return;
    snprintf(text, sizeof(text), "NCCL uses only %.60s of %lld HCAs", used,
             (long long)n_hcas);
    transport_finding_node(transport_finding_of(findings, "hca", text), node);
}

void transport_differ(struct findings *findings)
{
    size_t n = findings->t->n_nodes;

    for (size_t i = 0; i < n; i++)
        check_single_hca(findings, (int)i);
    if (n < 2)
        return;
    compare_fact(findings, "version", "NCCL's version");
    compare_hcas(findings);
    compare_fact(findings, "bootstrap", "the interface for NCCL's connections");
    compare_settings(findings);
}
