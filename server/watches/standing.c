/* standing.c - whether a node is a suspect */
#include "server/watches/standing.h"

#include "common/base/clock.h"
#include "common/base/json_util.h"

json_t *standing_document(const char *node)
{
    return json_pack("{s:s, s:s, s:[], s:n}", "kind", "node", "id", node, "results",
                     "suspect");
}

bool standing_is_suspect(const json_t *node)
{
    return json_is_object(json_object_get(node, "suspect"));
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
        json_array_clear(results);
        json_object_set_new(node, "suspect", json_null());
        return STANDING_CLEARED;
    }
    if (is_named) {
        json_object_set_new(node, "identity", json_string(identity));
        json_object_del(node, "is_changed");
    }
    if (was_suspect || count_named(node) < STANDING_NAMED)
        return STANDING_SAME;
    json_object_set_new(node, "suspect",
                        json_pack("{s:I, s:s, s:s, s:o}", "since_ms", (json_int_t)now_ms,
                                  "watch", watch, "run", run, "sentence",
                                  json_clean_string(sentence)));
    return STANDING_SUSPECT;
}

json_t *standing_json(const json_t *node)
{
    const json_t *suspect = json_object_get(node, "suspect");
    char since[CLOCK_TEXT_MAX];

    return json_pack(
        "{s:O, s:s, s:O, s:O, s:O, s:b, s:O*, s:O}", "node", json_object_get(node, "id"),
        "since", clock_format_ms(json_get_int(suspect, "since_ms", 0), since), "watch",
        json_object_get(suspect, "watch"), "run", json_object_get(suspect, "run"),
        "sentence", json_object_get(suspect, "sentence"), "changed",
        (int)json_get_bool(node, "is_changed", false), "held",
        json_object_get(node, "held"), "results", json_object_get(node, "results"));
}
