/* SPDX-License-Identifier: Apache-2.0 */
/* watch_json.c - a watch as docs/reference/api.md shows it */
#include "server/watches/watch_json.h"

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/finding/template.h"
#include "server/watches/sweep.h"
#include "server/watches/watch_request.h"

/* What is known of each node; a new array. */
static json_t *nodes_json(const json_t *doc, const json_t *names, const json_t *stale)
{
    json_t *out = json_array(), *name;
    size_t i;

    json_array_foreach (names, i, name) {
        const char *text = json_string_value(name);
        json_t *node = json_pack(
            "{s:O, s:b, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "name", name,
            "stale", (int)json_has_string(stale, text), "measured", "run", "answer",
            "figure", "level", "low", "high", "level_run", "level_measured");

        json_object_update(node, json_object_get(json_object_get(doc, "nodes"), text));
        json_array_append_new(out, node);
    }
    return out;
}

/* How many of the nodes were measured within the horizon, or a day if that is longer. */
static json_t *coverage_json(const json_t *doc, const json_t *names, const json_t *stale,
                             int64_t horizon_ms, int64_t now_ms)
{
    int64_t window_ms = horizon_ms > CALENDAR_DAY_MS ? horizon_ms : CALENDAR_DAY_MS;
    char since[CLOCK_TEXT_MAX];
    json_t *missing =
        sweep_stale(doc, names, clock_format_ms(now_ms - window_ms, since), NULL);
    json_int_t n = (json_int_t)json_array_size(names);
    json_t *out = json_pack("{s:I, s:I, s:I, s:I}", "measured",
                            n - (json_int_t)json_array_size(missing), "nodes", n, "stale",
                            (json_int_t)json_array_size(stale), "hours",
                            (json_int_t)(window_ms / 3600000));

    json_decref(missing);
    json_object_set_new(out, "sentence",
                        template_text(n == 0 ? "there is no node to measure so far"
                                             : "{measured} of {nodes} node{nodes:/s} "
                                               "measured in the last {hours} h",
                                      out, NULL));
    return out;
}

json_t *watch_json(const json_t *doc, json_t *names, int64_t horizon_ms, int64_t now_ms,
                   bool has_nodes)
{
    json_t *out = json_copy(json_object_get(doc, "request")), *stale, *value;
    const json_t *sweep = json_object_get(doc, "sweep");
    const char *name, *run = sweep_run(doc, &(size_t){0});
    char since[CLOCK_TEXT_MAX];

    /* With a launcher the nodes are those that it gave. */
    if (json_array_size(names) == 0)
        json_object_foreach (json_object_get(doc, "nodes"), name, value)
            json_array_append_new(names, json_string(name));
    clock_format_ms(now_ms - WATCH_STALE_AFTER * horizon_ms, since);
    stale = sweep_stale(doc, names, since, json_get_str(doc, "created", ""));
    json_object_update(out, (json_t *)(uintptr_t)doc);
    json_object_update_new(
        out, json_pack("{s:s, s:s?, s:O?, s:o}", "state",
                       json_is_null(json_object_get(doc, "next")) ? "paused"
                       : json_is_object(sweep)                    ? "measuring"
                                                                  : "waiting",
                       "run", run, "last",
                       json_object_get(json_array_get(json_object_get(doc, "sweeps"), 0),
                                       "verdict"),
                       "coverage", coverage_json(doc, names, stale, horizon_ms, now_ms)));
    json_object_del(out, "request");
    json_object_del(out, "lasting");
    json_object_del(out, "stale");
    json_object_del(out, "nodes");
    if (has_nodes) {
        json_object_set_new(out, "nodes", nodes_json(doc, names, stale));
        json_object_set(out, "stale", stale);
    } else {
        json_object_del(out, "actions");
        json_object_del(out, "sweep");
        json_object_set_new(out, "spec", json_copy(json_object_get(out, "spec")));
        json_object_del(json_object_get(out, "spec"), "nodes");
    }
    json_decref(stale);
    json_decref(names);
    return out;
}
