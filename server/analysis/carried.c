/* carried.c - what the network carried of what collectives move between nodes, in words
 */
#include "server/analysis/carried.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/finding/finding.h"
#include "server/finding/template.h"

#define NAMED_MAX 3       /* nodes that a sentence names */
#define ALL_LEAST 0.9     /* of what is to be moved: the network did it */
#define NOTHING_MOST 0.1  /* and did not */
#define OTHERS_LEAST 1.25 /* others used it as well */

static const struct {
    const char *kind, *word;
} kinds[] = {
    {"infiniband", "InfiniBand"}, {"roce", "RoCE"}, {"efa", "EFA"}, {"net", NULL}};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static double share_of(const json_t *traffic)
{
    return json_get_num(traffic, "share", (double)NAN);
}

/* ---- The ports ---- */

/* "InfiniBand (mlx5_0) 3 %", "eth0 and 1 more 102 %": the share, or without it bytes. */
static json_t *group_json(const json_t *traffic, const char *kind, const char *word)
{
    double share = share_of(traffic), bytes = 0;
    const json_t *ports = json_object_get(traffic, "ports");
    const char *first = NULL;
    json_int_t n = 0;

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);

        if (strcmp(json_get_str(port, "kind", ""), kind) != 0)
            continue;
        if (n++ == 0)
            first = json_get_str(port, "name", "?");
        bytes +=
            json_get_num(port, "sent_bytes", 0) + json_get_num(port, "received_bytes", 0);
    }
    if (n == 0)
        return NULL;
    return json_pack(
        "{s:s, s:s*, s:I, s:I, s:f}", "first", first, "word", word, "others", n - 1, "n",
        n, isnan(share) ? "bytes" : "share",
        isnan(share) ? bytes : bytes / (2 * json_get_num(traffic, "moved_bytes", 0)));
}

static json_t *groups_json(const json_t *traffic)
{
    json_t *groups = json_array(), *group;

    for (size_t i = 0; i < KINDS; i++) {
        group = group_json(traffic, kinds[i].kind, kinds[i].word);
        if (group && json_array_size(groups) == 0)
            json_object_set_new(group, "is_first", json_true());
        if (group)
            json_array_append_new(groups, group);
    }
    return groups;
}

/* ---- The sentence ---- */

#define CARRIED "[{$groups}|the network carried nothing that counts]"

static const char sentence[] =
    "[{$is_known?}[{$is_nothing?}the network carried {share:%}|" CARRIED
    "] of the {moved_bytes:bytes} that {$by} moves between [{$has_nodes?}nodes|ranks, "
    "which are on one host][ (of what a tree moves, "
    "{share_if_tree:%})][{$is_elsewhere?}: "
    "it went another way|{$is_shared?}: others use it as well][; of its part, "
    "{$deviating}][{nvlink_bytes?}; NVLink carried {nvlink_bytes:bytes}]|{way?}nothing "
    "has to cross the network|" CARRIED
    "; not evaluated: how much the algorithm moves between nodes is not known]";

static const char *way_in_words(const json_t *traffic)
{
    const char *way = json_get_str(traffic, "way", "");

    return strcmp(way, "direct") == 0  ? "the call"
           : strcmp(way, "tree") == 0  ? "a tree"
           : strcmp(way, "chain") == 0 ? "a chain"
                                       : "a ring";
}

static json_t *sentence_of(const json_t *traffic)
{
    bool has_nodes = json_get_int(traffic, "nodes", 0) > 1;
    double share = share_of(traffic);
    struct finding words = finding_begin();
    json_t *groups = groups_json(traffic), *text;

    finding_put(&words, "{s:b, s:b, s:b, s:b, s:b, s:s}", "$is_known", !isnan(share),
                "$is_nothing", share < NOTHING_MOST, "$has_nodes", (int)has_nodes,
                "$is_elsewhere",
                has_nodes && share<NOTHING_MOST, "$is_shared", share> OTHERS_LEAST, "$by",
                way_in_words(traffic));
    finding_set_phrases(&words, "$groups", groups, KINDS, ", ",
                        "[{word} ([{others?}{n} ports|{first}])|{first}[{others?} and "
                        "{others} more]] [{is_first?}carried ][{share:%}|{bytes:bytes}]");
    finding_set_phrases(&words, "$deviating", json_object_get(traffic, "deviating"),
                        NAMED_MAX, ", ", "[{node}|rank {rank}'s] carried {share:%}");
    text = template_text(sentence, words.members, traffic);
    json_decref(groups);
    json_decref(words.members);
    return text;
}

json_t *carried_traffic(const json_t *row, carried_node *node_of, const void *arg)
{
    const json_t *said = json_object_get(row, "traffic");
    json_t *traffic = json_is_object(said) ? json_deep_copy(said) : NULL, *one;
    size_t i;

    if (!traffic)
        return NULL;
    json_array_foreach (json_object_get(traffic, "deviating"), i, one) {
        const char *node = node_of(arg, (int)json_get_int(one, "rank", -1));

        if (node)
            json_object_set_new(one, "node", json_string(node));
    }
    json_object_set_new(traffic, "sentence", sentence_of(traffic));
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
