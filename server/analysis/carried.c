/* carried.c - what the network carried of what collectives move between nodes, in words
 */
#include "server/analysis/carried.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/units.h"
#include "server/finding/finding.h"

#define SENTENCE_MAX 2000
#define NAMED_MAX 3       /* nodes that a sentence names */
#define ALL_LEAST 0.9     /* of what is to be moved: the network did it */
#define NOTHING_MOST 0.1  /* and did not */
#define OTHERS_LEAST 1.25 /* others used it as well */

static const struct {
    const char *kind, *word;
} kinds[] = {
    {"infiniband", "InfiniBand"}, {"roce", "RoCE"}, {"efa", "EFA"}, {"net", NULL}};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void put_percent(double share, struct buf *out)
{
    double percent = 100 * share;

    buf_printf(out, "%.*f %%", percent >= 0.05 && percent < 9.95, percent);
}

static void put_bytes(double bytes, struct buf *out)
{
    char text[UNITS_TEXT_MAX];

    buf_append_str(out, units_format_human((uint64_t)fmax(fmin(bytes, 1e18), 0), text));
}

/* ---- The ports ---- */

struct group {
    size_t n;
    const char *first;
    double bytes;
};

static struct group group_of(const json_t *traffic, const char *kind)
{
    const json_t *ports = json_object_get(traffic, "ports");
    struct group group = {0, "", 0};

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);

        if (strcmp(json_get_str(port, "kind", ""), kind) != 0)
            continue;
        if (group.n++ == 0)
            group.first = json_get_str(port, "name", "?");
        group.bytes +=
            json_get_num(port, "sent_bytes", 0) + json_get_num(port, "received_bytes", 0);
    }
    return group;
}

/* "InfiniBand (mlx5_0)", "RoCE (8 ports)", "eth0", "eth0 and 1 more". */
static void put_group(const struct group *group, const char *word, struct buf *out)
{
    if (!word && group->n == 1)
        buf_append_str(out, group->first);
    else if (!word)
        buf_printf(out, "%s and %zu more", group->first, group->n - 1);
    else if (group->n == 1)
        buf_printf(out, "%s (%s)", word, group->first);
    else
        buf_printf(out, "%s (%zu ports)", word, group->n);
}

/* "eth0 carried 102 %, RoCE (mlx5_0) 3 %"; of no whole, bytes. */
static void put_carried(const json_t *traffic, double whole, struct buf *out)
{
    bool is_first = true;

    for (size_t i = 0; i < KINDS; i++) {
        struct group group = group_of(traffic, kinds[i].kind);

        if (group.n == 0)
            continue;
        buf_append_str(out, is_first ? "" : ", ");
        put_group(&group, kinds[i].word, out);
        buf_append_str(out, is_first ? " carried " : " ");
        if (whole > 0)
            put_percent(group.bytes / whole, out);
        else
            put_bytes(group.bytes, out);
        is_first = false;
    }
    if (is_first)
        buf_append_str(out, "the network carried nothing that counts");
}

/* ---- The sentence ---- */

static double share_of(const json_t *traffic)
{
    return json_get_num(traffic, "share", (double)NAN);
}

static void put_deviating(const json_t *traffic, struct buf *out)
{
    const json_t *list = json_object_get(traffic, "deviating");
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n && i < NAMED_MAX; i++) {
        const json_t *one = json_array_get(list, i);
        const char *node = json_get_str(one, "node", NULL);

        buf_append_str(out, i ? ", " : "; of its part, ");
        if (node)
            buf_append_str(out, node);
        else
            buf_printf(out, "rank %lld's", (long long)json_get_int(one, "rank", -1));
        buf_append_str(out, " carried ");
        put_percent(json_get_num(one, "share", 0), out);
    }
    if (n > NAMED_MAX)
        buf_printf(out, " and %zu more", n - NAMED_MAX);
}

static const char *way_in_words(const json_t *traffic)
{
    const char *way = json_get_str(traffic, "way", "");

    return strcmp(way, "direct") == 0  ? "the call"
           : strcmp(way, "tree") == 0  ? "a tree"
           : strcmp(way, "chain") == 0 ? "a chain"
                                       : "a ring";
}

static void put_share(const json_t *traffic, struct buf *out)
{
    bool has_nodes = json_get_int(traffic, "nodes", 0) > 1;
    double share = share_of(traffic);
    double moved = json_get_num(traffic, "moved_bytes", 0);
    double links = json_get_num(traffic, "nvlink_bytes", 0);
    double of_tree = json_get_num(traffic, "share_if_tree", (double)NAN);

    if (share < NOTHING_MOST) {
        buf_append_str(out, "the network carried ");
        put_percent(share, out);
    } else {
        put_carried(traffic, 2 * moved, out);
    }
    buf_append_str(out, " of the ");
    put_bytes(moved, out);
    buf_printf(out, " that %s moves between %s", way_in_words(traffic),
               has_nodes ? "nodes" : "ranks, which are on one host");
    if (!isnan(of_tree)) {
        buf_append_str(out, " (of what a tree moves, ");
        put_percent(of_tree, out);
        buf_append_str(out, ")");
    }
    if (has_nodes && share < NOTHING_MOST)
        buf_append_str(out, ": it went another way");
    else if (share > OTHERS_LEAST)
        buf_append_str(out, ": others use it as well");
    put_deviating(traffic, out);
    if (links > 0) {
        buf_append_str(out, "; NVLink carried ");
        put_bytes(links, out);
    }
}

static void put_sentence(const json_t *traffic, struct buf *out)
{
    if (!isnan(share_of(traffic))) {
        put_share(traffic, out);
    } else if (json_object_get(traffic, "way")) {
        buf_append_str(out, "nothing has to cross the network");
    } else {
        put_carried(traffic, 0, out);
        buf_append_str(out, "; not evaluated: how much the algorithm moves between nodes "
                            "is not known");
    }
}

json_t *carried_traffic(const json_t *row, carried_node *node_of, const void *arg)
{
    const json_t *said = json_object_get(row, "traffic");
    json_t *traffic = json_is_object(said) ? json_deep_copy(said) : NULL, *one;
    struct buf out;
    size_t i;

    if (!traffic)
        return NULL;
    json_array_foreach (json_object_get(traffic, "deviating"), i, one) {
        const char *node = node_of(arg, (int)json_get_int(one, "rank", -1));

        if (node)
            json_object_set_new(one, "node", json_string(node));
    }
    buf_init(&out, SENTENCE_MAX);
    put_sentence(traffic, &out);
    json_object_set_new(traffic, "sentence", json_clean_string(out.data ? out.data : ""));
    buf_release(&out);
    return traffic;
}

/* ---- Of a run ---- */

void carried_note(struct carried *carried, const json_t *row)
{
    json_t *traffic = json_object_get(row, "traffic");
    int64_t size = json_get_int(row, "size", 0);
    double share = share_of(traffic);

    if (!traffic)
        return;
    if (!isnan(share)) {
        bool is_first = carried->rows++ == 0;

        carried->least = is_first ? share : fmin(carried->least, share);
        carried->most = is_first ? share : fmax(carried->most, share);
    }
    if (carried->row && size < carried->size)
        return;
    json_decref(carried->row);
    carried->row = json_incref(traffic);
    carried->size = size;
}

void carried_release(struct carried *carried)
{
    json_decref(carried->row);
    memset(carried, 0, sizeof(*carried));
}

static enum message_id message_of(const json_t *traffic)
{
    double share = share_of(traffic);

    if (isnan(share))
        return json_object_get(traffic, "way") ? MESSAGE_TRAFFIC_WITHIN_NODES
                                               : MESSAGE_TRAFFIC_NOT_EVALUATED;
    if (json_get_int(traffic, "nodes", 0) < 2 && share < NOTHING_MOST)
        return MESSAGE_TRAFFIC_WITHIN_NODES;
    return share >= ALL_LEAST      ? MESSAGE_TRAFFIC_BY_NETWORK
           : share >= NOTHING_MOST ? MESSAGE_TRAFFIC_PARTLY
                                   : MESSAGE_TRAFFIC_ANOTHER_WAY;
}

json_t *carried_verdict(const struct carried *carried, const char *mark)
{
    struct finding finding;

    if (!carried->row)
        return NULL;
    finding = finding_begin();
    finding_put(&finding, "{s:I, s:O, s:I}", "size", (json_int_t)carried->size, "traffic",
                carried->row, "rows", (json_int_t)carried->rows);
    if (carried->rows > 0)
        finding_put(&finding, "{s:f, s:f}", "least", carried->least, "most",
                    carried->most);
    return finding_end(&finding, message_of(carried->row), mark);
}
