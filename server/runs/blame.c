/* SPDX-License-Identifier: Apache-2.0 */
/* blame.c - records which ranks or nodes caused a case's end, as data and as a
 * sentence */
#include "server/runs/blame.h"

#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/utf8.h"

/* Limit for the evidence against one rank or node, bytes. */
#define TEXT_MAX 600

#define RANKS_NAMED_MAX 8
#define NODES_NAMED_BYTES 300
#define SENTENCE_MAX 8192

static const char *const kind_names[BLAME_KIND_COUNT] = {
    [BLAME_RANK_FAILED] = "rank_failed",   [BLAME_RANK_LOST] = "rank_lost",
    [BLAME_RANK_MISSING] = "rank_missing", [BLAME_STALLED] = "stalled",
    [BLAME_NODE_LOST] = "node_lost",       [BLAME_NODE_LEAVING] = "node_leaving",
    [BLAME_NODE_REFUSED] = "node_refused", [BLAME_NOT_EXITED] = "not_exited",
    [BLAME_WRONG_DATA] = "wrong_data",     [BLAME_UNREACHABLE] = "unreachable",
    [BLAME_NODE_FULL] = "node_full",
};

json_t *blame_create(enum blame_kind kind)
{
    return json_pack("{s:s, s:n, s:n, s:i, s:[]}", "kind", kind_names[kind], "rank",
                     "node", "count", 0, "evidence");
}

bool blame_is(const json_t *blame, enum blame_kind kind)
{
    return strcmp(json_get_str(blame, "kind", ""), kind_names[kind]) == 0;
}

static json_t *rank_json(int rank)
{
    return rank < 0 ? json_null() : json_integer(rank);
}

void blame_add_said(json_t *blame, int rank, const char *node, const char *text, int by)
{
    json_t *evidence = json_object_get(blame, "evidence"), *one;
    int64_t count = json_get_int(blame, "count", 0) + 1;
    char cut[TEXT_MAX + 1];

    json_object_set_new(blame, "count", json_integer(count));
    if (count == 1) {
        json_object_set_new(blame, "rank", rank_json(rank));
        json_object_set_new(blame, "node", json_pack("s?", node));
    }
    if (json_array_size(evidence) == BLAME_LISTED_MAX)
        return;
    snprintf(cut, sizeof(cut), "%s", text ? text : "");
    one = json_pack("{s:o, s:s?, s:o?}", "rank", rank_json(rank), "node", node, "text",
                    json_clean_string(text ? cut : NULL));
    if (by >= 0)
        json_object_set_new(one, "by", json_integer(by));
    json_array_append_new(evidence, one);
}

void blame_add(json_t *blame, int rank, const char *node, const char *text)
{
    blame_add_said(blame, rank, node, text, -1);
}

void blame_quote_stack(json_t *blame, int rank, const char *stack)
{
    json_object_set_new(
        blame, "stack",
        json_pack("{s:i, s:o}", "rank", rank, "text", json_clean_string(stack)));
}

/* ---- The sentence ---- */

static const json_t *evidence_at(const json_t *blame, size_t i)
{
    return json_array_get(json_object_get(blame, "evidence"), i);
}

static const char *text_at(const json_t *blame, size_t i, const char *fallback)
{
    return json_get_str(evidence_at(blame, i), "text", fallback);
}

static long long number(const json_t *blame, const char *key)
{
    return (long long)json_get_int(blame, key, 0);
}

static const char *node_of(const json_t *blame)
{
    return json_get_str(blame, "node", "?");
}

static void say_rank_failed(const json_t *blame, struct buf *out)
{
    if (evidence_at(blame, 0))
        buf_printf(out, "rank %lld on %s: %s", number(blame, "rank"), node_of(blame),
                   text_at(blame, 0, "failed"));
    else
        buf_append_str(out, "a rank failed");
}

static void say_rank_lost(const json_t *blame, struct buf *out)
{
    const char *text = text_at(blame, 0, "no reason given");

    buf_printf(
        out, "rank %lld on %s was lost according to %lld of its peers (rank %lld: %.*s)",
        number(blame, "rank"), node_of(blame), number(blame, "count"),
        number(evidence_at(blame, 0), "by"), utf8_fit(text, 400), text);
}

/* Write a list such as " rank 2 on node-7 (...), rank 3 on node-7 (...) and 4 more". */
static void list_ranks(const json_t *blame, struct buf *out)
{
    long long count = number(blame, "count"), named = 0;

    while (named < count && named < RANKS_NAMED_MAX) {
        const json_t *one = evidence_at(blame, (size_t)named);

        buf_printf(out, "%s rank %lld on %s (%s)", named ? "," : "", number(one, "rank"),
                   json_get_str(one, "node", "?"), json_get_str(one, "text", ""));
        named++;
    }
    if (count > named)
        buf_printf(out, " and %lld more", count - named);
}

static void say_rank_missing(const json_t *blame, struct buf *out)
{
    long long of = number(blame, "of");

    buf_printf(out, "rendezvous: %lld of %lld ranks %s in %lld s; missing",
               of - number(blame, "count"), of, json_get_str(blame, "phase", ""),
               number(blame, "seconds"));
    list_ranks(blame, out);
}

static void say_unreachable(const json_t *blame, struct buf *out)
{
    const json_t *verdict = json_object_get(blame, "verdict");

    buf_printf(out, "unreachable: %s", json_get_str(verdict, "sentence", ""));
}

/* Omit a program's verdict if the verdict names no rank: a program's ranks often do not
 * report their position. */
static void say_stalled(const json_t *blame, struct buf *out)
{
    const json_t *verdict = json_object_get(blame, "verdict");
    bool is_output = strcmp(json_get_str(blame, "awaited", ""), "output") == 0;

    buf_printf(out, "stalled: no rank %s for %lld s",
               is_output ? "printed anything" : "made progress",
               number(blame, "seconds"));
    if (verdict && !(is_output && number(blame, "count") == 0))
        buf_printf(out, "; %s", json_get_str(verdict, "sentence", ""));
}

/* Write a sentence such as "node-2: agent lost (...)" or "3 nodes: agent lost (...):
 * node-2, node-5 and 1 more". */
static void say_node(const json_t *blame, struct buf *out)
{
    long long count = number(blame, "count"), named = 0;
    const char *text = text_at(blame, 0, "gone");
    size_t before;

    if (count < 2) {
        buf_printf(out, "%s: %s", node_of(blame), text);
        return;
    }
    buf_printf(out, "%lld nodes: %s: ", count, text);
    before = out->len;
    for (const json_t *one = evidence_at(blame, 0); one;
         one = evidence_at(blame, (size_t)named)) {
        const char *name = json_get_str(one, "node", "?");

        if (named && out->len - before + strlen(name) > NODES_NAMED_BYTES)
            break;
        buf_printf(out, "%s%s", named++ ? ", " : "", name);
    }
    if (count > named)
        buf_printf(out, " and %lld more", count - named);
}

static void say_not_exited(const json_t *blame, struct buf *out)
{
    (void)blame;
    buf_append_str(out, "workers did not exit after they were done");
}

static void say_wrong_data(const json_t *blame, struct buf *out)
{
    long long count = number(blame, "count");
    const char *node = json_get_str(blame, "node", NULL);

    buf_printf(out, "wrong data: %lld wrong element%s, the first%s%s in %s", count,
               count == 1 ? "" : "s", node ? " on " : "", node ? node : "",
               text_at(blame, 0, "an unnamed row"));
}

typedef void sayer(const json_t *blame, struct buf *out);

static sayer *const sayers[BLAME_KIND_COUNT] = {
    [BLAME_RANK_FAILED] = say_rank_failed,
    [BLAME_RANK_LOST] = say_rank_lost,
    [BLAME_RANK_MISSING] = say_rank_missing,
    [BLAME_UNREACHABLE] = say_unreachable,
    [BLAME_STALLED] = say_stalled,
    [BLAME_NODE_LOST] = say_node,
    [BLAME_NODE_LEAVING] = say_node,
    [BLAME_NODE_REFUSED] = say_node,
    [BLAME_NOT_EXITED] = say_not_exited,
    [BLAME_WRONG_DATA] = say_wrong_data,
    [BLAME_NODE_FULL] = say_node,
};

void blame_sentence(const json_t *blame, char *out, size_t size)
{
    const char *name = json_get_str(blame, "kind", "");
    const json_t *stack = json_object_get(blame, "stack");
    struct buf text;

    buf_init(&text, SENTENCE_MAX);
    for (int kind = 0; kind < BLAME_KIND_COUNT; kind++)
        if (strcmp(kind_names[kind], name) == 0)
            sayers[kind](blame, &text);
    if (stack)
        buf_printf(&text, "; stack of rank %lld: %s", number(stack, "rank"),
                   json_get_str(stack, "text", ""));
    snprintf(out, size, "%s", text.len ? text.data : "a rank failed");
    utf8_trim(out);
    buf_release(&text);
}
