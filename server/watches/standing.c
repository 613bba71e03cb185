/* SPDX-License-Identifier: Apache-2.0 */
/* standing.c - whether a node is a suspect */
#include "server/watches/standing.h"

#include "common/base/json_util.h"

json_t *standing_of(json_t *standings, const char *node)
{
    json_t *standing = json_object_get(standings, node);

    if (!standing) {
        standing = json_pack("{s:s, s:[], s:b, s:{}}", "node", node, "results", "changed",
                             0, "held");
        json_object_set_new(standings, node, standing);
    }
    return standing;
}

bool standing_is_suspect(const json_t *node)
{
    return json_object_get(node, "since") != NULL;
}

bool standing_is_held(const json_t *node)
{
    return json_object_size(json_object_get(node, "held")) > 0;
}

bool standing_is_open(const json_t *node)
{
    const json_t *latest = json_array_get(json_object_get(node, "results"), 0);

    return standing_is_suspect(node) || json_get_bool(latest, "named", false);
}

bool standing_any_is_open(const json_t *standings, const json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (standing_is_open(
                json_object_get(standings, json_string_value(json_array_get(names, i)))))
            return true;
    return false;
}

static size_t count_named(const json_t *node)
{
    const json_t *result;
    size_t n = 0, i;

    json_array_foreach (json_object_get(node, "results"), i, result)
        n += json_get_bool(result, "named", false);
    return n;
}

bool standing_is_clean(const json_t *node)
{
    return count_named(node) == 0 && !standing_is_suspect(node) &&
           !standing_is_held(node);
}

void standing_clear(json_t *node)
{
    json_array_clear(json_object_get(node, "results"));
    json_object_del(node, "since");
    json_object_del(node, "watch");
    json_object_del(node, "run");
    json_object_del(node, "sentence");
}

enum standing_news standing_take(json_t *node, const char *watch, const char *run,
                                 const char *sentence, bool is_named,
                                 const char *identity, int64_t now_ms)
{
    json_t *results = json_object_get(node, "results");
    bool was_suspect = standing_is_suspect(node);

    json_array_insert_new(results, 0,
                          json_pack("{s:s, s:b}", "run", run, "named", (int)is_named));
    if (json_array_size(results) > STANDING_RUNS)
        json_array_remove(results, STANDING_RUNS);
    if (was_suspect && !is_named) {
        standing_clear(node);
        return STANDING_CLEARED;
    }
    if (is_named) {
        json_object_set_new(node, "identity", json_string(identity));
        json_object_set_new(node, "changed", json_false());
    }
    if (was_suspect || count_named(node) < STANDING_NAMED)
        return STANDING_SAME;
    json_set_time(node, "since", now_ms);
    json_object_set_new(node, "watch", json_string(watch));
    json_object_set_new(node, "run", json_string(run));
    json_object_set_new(node, "sentence", json_clean_string(sentence));
    return STANDING_SUSPECT;
}
