/* SPDX-License-Identifier: Apache-2.0 */
/* placement.c - chooses nodes for a queued run */
#include "server/nodes/placement.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "common/spec/batch_group.h"
#include "common/spec/run_matrix.h"
#include "server/nodes/node_devices.h"
#include "server/nodes/programs.h"
#include "server/nodes/run_groups.h"
#include "server/nodes/unmatched.h"
#include "server/plan/plan.h"

/* A node that can serve the run. */
struct candidate {
    struct node *node;
    bool is_free;
    /* the reservation, if it alone prevents the use of the node, or NULL */
    const struct reservation *kept;
    long ranks; /* number of the run's ranks on the node */
};

/* Return true if the run's selector matches the node; names are not checked. A node
 * started by a launcher belongs to one run: the server assigned the same group to both.
 */
static bool is_selected(const struct run_spec *spec, const struct node *node)
{
    if (spec->nodes.group &&
        (!node->group || strcmp(node->group, spec->nodes.group) != 0))
        return false;
    if (!spec->launch.name && job_group(node->group))
        return false;
    return node_has_labels(node, spec->nodes.labels);
}

/* Return the number of the run's ranks on the node, or 0 after appending the reason to
 * *refused. */
static long ranks_on(const struct run_spec *spec, const struct node *node,
                     const char *backend, struct buf *refused)
{
    const char *why = NULL;
    long ranks;

    if (spec->program.name)
        return program_ranks(node, spec, refused);
    ranks = node_offers(node, backend, &why);
    if (ranks == 0) {
        buf_printf(refused, "; %s: %s: %s", node->name, backend, why);
        return 0;
    }
    if (strcmp(backend, "nccl") == 0)
        ranks = node_devices(node, spec, ranks, refused);
    if (ranks == 0)
        return 0;
    if (ranks < spec->ranks_per_node) {
        buf_printf(refused, "; %s: offers %ld %s ranks, %ld requested", node->name, ranks,
                   backend, spec->ranks_per_node);
        return 0;
    }
    return spec->ranks_per_node ? spec->ranks_per_node : ranks;
}

static void set_free(struct candidate *candidate, const struct run_spec *spec,
                     const struct reservation *reservation)
{
    bool is_unused = !reservation || node_is_free(candidate->node, spec->share);

    candidate->is_free = is_unused && (!reservation || !reservation->is_kept);
    candidate->kept =
        is_unused && !candidate->is_free && reservation->run ? reservation : NULL;
}

/* Return the minimum number of nodes that the run needs. */
static size_t least_nodes(const struct run_spec *spec)
{
    if (spec->nodes.names)
        return json_array_size(spec->nodes.names);
    if (spec->nodes.count)
        return (size_t)spec->nodes.count;
    return spec->nodes.min ? (size_t)spec->nodes.min : plan_least_nodes(spec->pattern);
}

static size_t most_nodes(const struct run_spec *spec)
{
    if (spec->nodes.names || spec->nodes.count)
        return least_nodes(spec);
    return spec->nodes.max ? (size_t)spec->nodes.max : SIZE_MAX;
}

/* A run uses either simulated or real nodes. ringbench-sim simulates its nodes and their
 * ranks in one process, so ranks on real nodes cannot join them. */
enum nodes_kind { NODES_ANY, NODES_SIMULATED, NODES_REAL };

static bool is_of_kind(const struct node *node, enum nodes_kind kind)
{
    bool is_simulated = json_get_bool(node->inventory, "simulated", false);

    return kind == NODES_ANY || is_simulated == (kind == NODES_SIMULATED);
}

/* ---- Reasons for excluding nodes, each listed once for all its nodes ---- */

#define REFUSALS_MAX 8

/* The reasons for excluding nodes. Zero the struct, except for `text`, which needs
 * buf_init() and buf_release(). */
struct refusals {
    /* "; NAME: why" for each reason; checks of nodes append to this text */
    struct buf text;
    struct {
        const char *node; /* name of the first node with the reason, borrowed */
        size_t at;        /* offset of the reason in the text */
        size_t more;      /* number of further nodes with the reason */
    } items[REFUSALS_MAX];
    size_t n;
};

/* Return the offset of the reason's text after "; NAME". */
static size_t why_at(size_t at, const char *node)
{
    return at + strlen("; ") + strlen(node);
}

static size_t end_of(const struct refusals *refusals, size_t i)
{
    return i + 1 < refusals->n ? refusals->items[i + 1].at : refusals->text.len;
}

static bool has_why(const struct refusals *refusals, size_t i, const char *why,
                    size_t len)
{
    size_t at = why_at(refusals->items[i].at, refusals->items[i].node);

    return end_of(refusals, i) - at == len &&
           memcmp(refusals->text.data + at, why, len) == 0;
}

/* Attribute the text after `before` to this node. If an earlier node was excluded for the
 * same reason, remove the text and count the node there. */
static void refusals_fold(struct refusals *refusals, const char *node, size_t before)
{
    struct buf *text = &refusals->text;
    size_t at = why_at(before, node), len;

    if (text->len <= at)
        return;
    len = text->len - at;
    text->len = before; /* the reason of the last item in `items` ends here */
    for (size_t i = 0; i < refusals->n; i++) {
        if (has_why(refusals, i, text->data + at, len)) {
            refusals->items[i].more++;
            return;
        }
    }
    if (refusals->n == REFUSALS_MAX)
        return;
    text->len = at + len;
    refusals->items[refusals->n].node = node;
    refusals->items[refusals->n].at = before;
    refusals->items[refusals->n++].more = 0;
}

static void refusals_clear(struct refusals *refusals)
{
    buf_clear(&refusals->text);
    refusals->n = 0;
}

/* Append the reasons in the form "; NAME and 7 more: why; ...". */
static void refusals_append(const struct refusals *refusals, struct buf *out)
{
    const char *text = refusals->text.data;

    for (size_t i = 0; i < refusals->n; i++) {
        size_t at = refusals->items[i].at, why = why_at(at, refusals->items[i].node);

        buf_append(out, text + at, why - at);
        if (refusals->items[i].more > 0)
            buf_printf(out, " and %zu more", refusals->items[i].more);
        buf_append(out, text + why, end_of(refusals, i) - why);
    }
}

/* Inputs and outputs of choosing a run's nodes. */
struct choice {
    const struct run_spec *spec;
    const struct node_registry *registry;
    /* one reservation for each node of the registry, or NULL */
    const struct reservation *reserved;
    struct candidate *out;    /* array with room for every node */
    struct refusals *refused; /* the reasons for excluding selected nodes */
    enum nodes_kind kind;
};

/* Return true if node i is a candidate on the backend, and store it as candidate n. */
static bool consider(const struct choice *choice, const char *backend, size_t i, size_t n)
{
    struct node *node = choice->registry->nodes[i];
    struct buf *refused = &choice->refused->text;
    size_t before = refused->len;
    long ranks = 0;

    if (node->state != NODE_ALIVE || !is_selected(choice->spec, node))
        return false;
    if (choice->spec->avoid_suspects &&
        json_object_get(choice->registry->suspects, node->name))
        buf_printf(refused, "; %s: suspected to be slow", node->name);
    else if (is_of_kind(node, choice->kind))
        ranks = ranks_on(choice->spec, node, backend, refused);
    else
        buf_printf(refused,
                   choice->kind == NODES_REAL
                       ? "; %s: simulated (a run cannot combine simulated and real nodes)"
                       : "; %s: real (a run cannot combine simulated and real nodes)",
                   node->name);
    refusals_fold(choice->refused, node->name, before);
    if (ranks == 0)
        return false;
    choice->out[n].node = node;
    choice->out[n].ranks = ranks;
    set_free(&choice->out[n], choice->spec,
             choice->reserved ? &choice->reserved[i] : NULL);
    return true;
}

/* Collect live nodes that match the selector and offer enough ranks on the backend, in
 * the order of the selector's names or the registry. Stop once `enough` candidates are
 * free. */
static size_t collect(const struct choice *choice, const char *backend, size_t enough)
{
    const struct node_registry *registry = choice->registry;
    const json_t *names = choice->spec->nodes.names;
    size_t of = names ? json_array_size(names) : registry->count, n = 0, free_nodes = 0;

    for (size_t k = 0; k < of && free_nodes < enough; k++) {
        size_t i =
            names ? node_index(registry, json_string_value(json_array_get(names, k))) : k;

        if (i < registry->count && consider(choice, backend, i, n))
            free_nodes += choice->out[n++].is_free;
    }
    return n;
}

/* List the requested nodes that are unknown, lost or gone. */
static void list_missing(const struct run_spec *spec,
                         const struct node_registry *registry, struct buf *out)
{
    for (size_t i = 0; i < json_array_size(spec->nodes.names); i++) {
        const char *name = json_string_value(json_array_get(spec->nodes.names, i));
        const struct node *node = node_find(registry, name);

        if (!node)
            buf_printf(out, "; no node is named '%s'", name);
        else if (node->state == NODE_LOST)
            buf_printf(out, "; %s is lost", name);
        else if (node->state == NODE_LEFT)
            buf_printf(out, "; %s has left", name);
    }
}

static void explain_unknown(const struct run_spec *spec,
                            const struct node_registry *registry, size_t found,
                            const struct refusals *refused, struct placement *placement)
{
    struct buf text;
    size_t before;
    bool any = false;

    buf_init(&text, sizeof(placement->reason) * 4);
    buf_printf(&text, "%zu of %zu nodes are available", found, least_nodes(spec));
    if (spec->nodes.group)
        buf_printf(&text, " in group '%s'", spec->nodes.group);
    refusals_append(refused, &text);
    before = text.len;
    unmatched_explain_launched(spec, registry, &text);
    if (refused->n == 0 && found == 0 && text.len == before)
        unmatched_explain(spec, registry, &text);
    list_missing(spec, registry, &text);
    for (size_t i = 0; spec->nodes.names && i < registry->count; i++) {
        if (registry->nodes[i]->state == NODE_ALIVE) {
            buf_printf(&text, "%s%s",
                       any ? ", " : "; known nodes: ", registry->nodes[i]->name);
            any = true;
        }
    }
    snprintf(placement->reason, sizeof(placement->reason), "%s", text.data);
    utf8_trim(placement->reason);
    buf_release(&text);
}

/* Return true if the nodes' workers support the run's collectives, types and reductions.
 * Otherwise set the reason, which names the unsupported feature. */
static bool is_supported(const struct run_spec *spec, const char *backend,
                         struct placement *placement)
{
    const struct node *node = placement->nodes[0];
    const char *list = "collectives", *name = NULL;
    bool reduces = false, is_fine = true;

    for (size_t i = 0; is_fine && i < spec->n_collectives; i++) {
        reduces = reduces || collective_facts(spec->collectives[i])->reduces;
        name = collective_name(spec->collectives[i]);
        is_fine = node_supports(node, backend, list, name);
    }
    for (size_t i = 0; is_fine && i < spec->n_dtypes; i++) {
        list = "dtypes";
        name = dtype_name(spec->dtypes[i]);
        is_fine = node_supports(node, backend, list, name);
    }
    for (size_t i = 0; is_fine && reduces && i < spec->n_redops; i++) {
        list = "redops";
        name = redop_name(spec->redops[i]);
        is_fine = node_supports(node, backend, list, name);
    }
    if (!is_fine)
        snprintf(placement->reason, sizeof(placement->reason),
                 "the %s backend on %s does not support %s (%s)", backend, node->name,
                 name, list);
    return is_fine;
}

/* Return true if the root is a rank of each group and the traffic matrix covers the
 * largest group of ranks. If nodes measure in groups, the smallest group of nodes is
 * checked. */
static bool fits_groups(const struct run_spec *spec, struct placement *placement)
{
    struct split_groups groups = {0};
    size_t nodes = plan_size(spec, placement->n_nodes).smallest;
    bool rooted = false;
    long least, most = 0;

    run_groups_form(spec, placement->ranks, nodes, &groups);
    least = split_smallest(&groups);
    for (int i = 0; i < groups.n; i++)
        most = groups.sizes[i] > most ? groups.sizes[i] : most;
    split_release(&groups);
    if (spec->traffic.matrix && most > spec->traffic.n) {
        snprintf(placement->reason, sizeof(placement->reason),
                 "the traffic matrix is for %d ranks, but the run has %ld",
                 spec->traffic.n, most);
        return false;
    }
    for (size_t i = 0; i < spec->n_collectives; i++)
        rooted = rooted || collective_facts(spec->collectives[i])->is_rooted;
    if (!rooted || spec->root < least)
        return true;
    snprintf(placement->reason, sizeof(placement->reason),
             "root is %ld, but the %s has %ld ranks (0 to %ld)", spec->root,
             spec->split.kind == SPLIT_NONE ? "run" : "smallest group", least, least - 1);
    return false;
}

/* Append the names of the runs that occupy the nodes, or of the run for which idle nodes
 * are reserved. */
static void explain_busy(const struct candidate *candidates, size_t n, size_t free_nodes,
                         struct placement *placement)
{
    const struct reservation *first = NULL;
    char why[200] = "others are in use", time[CLOCK_TEXT_MAX];
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        first = first ? first : candidates[i].kept;
        kept += candidates[i].kept ? 1 : 0;
    }
    if (first)
        snprintf(
            why, sizeof(why),
            "%zu idle %s reserved for run %s, which is served first and waits for %zu "
            "nodes%s%.19s%s",
            kept, kept == 1 ? "node is" : "nodes are", first->run, first->least,
            first->until_ms ? ", until " : "",
            first->until_ms ? clock_format_ms(first->until_ms, time) : "",
            first->until_ms ? "Z" : "");
    snprintf(placement->reason, sizeof(placement->reason),
             "%zu of %zu nodes are free; %s", free_nodes, placement->least, why);
}

/* Choose free candidates for the run. If there are too few, record all usable nodes. */
static void take(const struct run_spec *spec, const char *backend,
                 const struct candidate *candidates, size_t n,
                 struct placement *placement)
{
    size_t free_nodes = 0, most = most_nodes(spec);

    for (size_t i = 0; i < n; i++)
        free_nodes += candidates[i].is_free ? 1 : 0;
    placement->n_nodes = 0;
    if (free_nodes < least_nodes(spec)) {
        for (size_t i = 0; i < n; i++)
            placement->nodes[placement->n_nodes++] = candidates[i].node;
        placement->outcome = PLACEMENT_BUSY;
        explain_busy(candidates, n, free_nodes, placement);
        return;
    }
    for (size_t i = 0; i < n && placement->n_nodes < most; i++) {
        struct node *node = candidates[i].node;

        if (!candidates[i].is_free)
            continue;
        placement->ranks[placement->n_nodes] = candidates[i].ranks;
        placement->nodes[placement->n_nodes++] = node;
    }
    placement->backend = backend;
    placement->outcome = PLACEMENT_READY;
    if (!spec->program.name &&
        (!is_supported(spec, backend, placement) || !fits_groups(spec, placement)))
        placement->outcome = PLACEMENT_IMPOSSIBLE;
    if (!plan_fits(spec, placement->n_nodes, placement->reason,
                   sizeof(placement->reason)))
        placement->outcome = PLACEMENT_IMPOSSIBLE;
}

/* Return the run's backend. "auto" selects nccl if all nodes that the run may get have
 * GPUs. */
static const char *choose_backend(const struct choice *choice)
{
    const struct run_spec *spec = choice->spec;
    size_t with_gpu, all;

    if (spec->program.name)
        return "program";
    if (strcmp(spec->backend, "auto") != 0)
        return spec->backend;
    if (node_devices_matter(spec))
        return "nccl";
    with_gpu = collect(choice, "nccl", SIZE_MAX);
    refusals_clear(choice->refused);
    all = collect(choice, "host", SIZE_MAX);
    refusals_clear(choice->refused);
    if (with_gpu > 0 && with_gpu >= least_nodes(spec) &&
        (most_nodes(spec) != SIZE_MAX || with_gpu >= all))
        return "nccl";
    return "host";
}

/* Collect nodes of one kind: simulated nodes if there are enough, else real nodes. If
 * there are too few of both kinds, collect the kind with more nodes. */
static size_t collect_one_kind(struct choice *choice, const char *backend, size_t enough)
{
    size_t simulated, real;

    if (strcmp(backend, "sim") != 0)
        return collect(choice, backend, enough);
    choice->kind = NODES_SIMULATED;
    simulated = collect(choice, backend, enough);
    if (simulated >= least_nodes(choice->spec))
        return simulated;
    refusals_clear(choice->refused);
    choice->kind = NODES_REAL;
    real = collect(choice, backend, enough);
    if (real >= simulated)
        return real;
    refusals_clear(choice->refused);
    choice->kind = NODES_SIMULATED;
    return collect(choice, backend, enough);
}

static void choose(struct choice *choice, struct placement *placement)
{
    const char *backend = choose_backend(choice);
    size_t n = collect_one_kind(choice, backend, most_nodes(choice->spec));

    if (n >= placement->least) {
        take(choice->spec, backend, choice->out, n, placement);
        return;
    }
    placement->outcome = PLACEMENT_UNKNOWN;
    explain_unknown(choice->spec, choice->registry, n, choice->refused, placement);
    for (size_t i = 0; i < n; i++)
        placement->nodes[placement->n_nodes++] = choice->out[i].node;
}

void placement_choose(const struct run_spec *spec, const struct node_registry *registry,
                      const struct reservation *reserved, struct placement *placement)
{
    struct refusals refused = {.n = 0};
    struct choice choice = {spec, registry, reserved, NULL, &refused, NODES_ANY};
    size_t most = registry->count + 1; /* the selector's names are distinct */

    memset(placement, 0, sizeof(*placement));
    choice.out = memory_zeroed(most, sizeof(*choice.out), "a placement");
    placement->nodes = memory_zeroed(most, sizeof(*placement->nodes), "a placement");
    placement->ranks = memory_zeroed(most, sizeof(*placement->ranks), "a placement");
    placement->least = least_nodes(spec);
    buf_init(&refused.text, sizeof(placement->reason));
    choose(&choice, placement);
    buf_release(&refused.text);
    free(choice.out);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_json(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b);
}

static bool is_same_program(const struct run_spec *a, const struct run_spec *b)
{
    return is_same_text(a->program.name, b->program.name) &&
           is_same_json(a->program.args, b->program.args);
}

/* Compare the fields that node_devices() checks. */
static bool are_same_devices(const struct run_spec *a, const struct run_spec *b)
{
    return is_same_json(a->devices, b->devices) &&
           is_same_text(a->nccl_lib, b->nccl_lib) &&
           is_same_json(json_object_get(a->matrix, RUN_MATRIX_LIBRARY),
                        json_object_get(b->matrix, RUN_MATRIX_LIBRARY));
}

bool placement_is_alike(const struct run_spec *a, const struct run_spec *b)
{
    return is_same_text(a->backend, b->backend) && a->pattern == b->pattern &&
           a->share == b->share && a->avoid_suspects == b->avoid_suspects &&
           a->ranks_per_node == b->ranks_per_node && least_nodes(a) == least_nodes(b) &&
           most_nodes(a) == most_nodes(b) && !a->launch.name == !b->launch.name &&
           is_same_text(a->nodes.group, b->nodes.group) &&
           is_same_json(a->nodes.names, b->nodes.names) &&
           is_same_json(a->nodes.labels, b->nodes.labels) && is_same_program(a, b) &&
           are_same_devices(a, b);
}

bool placement_knows_backend(const struct node_registry *registry,
                             const struct run_spec *spec, struct problems *problems)
{
    if (!spec->backend || run_backend_is_usual(spec->backend) || spec->launch.name)
        return true;
    for (size_t i = 0; i < registry->count; i++)
        if (node_backend(registry->nodes[i], spec->backend))
            return true;
    problems_add(problems, "/backend",
                 "no node offers the backend %s. The usual backends are nccl, host and "
                 "sim",
                 spec->backend);
    return false;
}

void placement_release(struct placement *placement)
{
    free(placement->nodes);
    free(placement->ranks);
    placement->nodes = NULL;
    placement->ranks = NULL;
}
