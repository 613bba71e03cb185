/* watch_json.c - a watch as docs/reference/api.md shows it */
#include "server/watches/watch_json.h"

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/finding/template.h"
#include "server/watches/sweep.h"
#include "server/watches/watch_request.h"

static json_t *node_json(const json_t *doc, const char *name, bool is_stale)
{
    json_t *out =
        json_pack("{s:s, s:b, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "name", name,
                  "stale", (int)is_stale, "measured", "run", "answer", "figure", "level",
                  "low", "high", "level_run", "level_measured");

    json_object_update(out, json_object_get(json_object_get(doc, "nodes"), name));
    return out;
}

/* How many of the nodes were measured within the horizon, or a day if that is longer, and
 * how many are stale. With `nodes` and `stale`, also which. */
static json_t *coverage_json(const json_t *doc, const json_t *names, int64_t horizon_ms,
                             int64_t now_ms, json_t *nodes, json_t *stale)
{
    int64_t window_ms = horizon_ms > CALENDAR_DAY_MS ? horizon_ms : CALENDAR_DAY_MS;
    const char *created = json_get_str(doc, "created", "");
    char recent[CLOCK_TEXT_MAX], since[CLOCK_TEXT_MAX];
    size_t n = json_array_size(names), n_measured = 0, n_stale = 0;
    json_t *out;

    clock_format_ms(now_ms - window_ms, recent);
    clock_format_ms(now_ms - WATCH_STALE_AFTER * horizon_ms, since);
    for (size_t i = 0; i < n; i++) {
        json_t *name = json_array_get(names, i);
        const char *text = json_string_value(name);
        bool is_stale = sweep_is_stale(doc, text, since, created);

        n_measured += !sweep_is_stale(doc, text, recent, NULL);
        n_stale += is_stale;
        if (nodes)
            json_array_append_new(nodes, node_json(doc, text, is_stale));
        if (stale && is_stale)
            json_array_append(stale, name);
    }
    out = json_pack("{s:I, s:I, s:I, s:I}", "measured", (json_int_t)n_measured, "nodes",
                    (json_int_t)n, "stale", (json_int_t)n_stale, "hours",
                    (json_int_t)(window_ms / 3600000));
    json_object_set_new(out, "sentence",
                        template_text(n == 0 ? "there is no node to measure so far"
                                             : "{measured} of {nodes} node{nodes:/s} "
                                               "measured in the last {hours} h",
                                      out, NULL));
    return out;
}

json_t *watch_json(const json_t *doc, json_t *nodes, int64_t horizon_ms, int64_t now_ms,
                   bool has_nodes)
{
    static const char *const of_nodes[] = {"nodes", "stale", "actions", "sweep"};
    json_t *out = json_copy(json_object_get(doc, "request")), *names = json_copy(nodes);
    json_t *list = has_nodes ? json_array() : NULL, *value;
    json_t *stale = has_nodes ? json_array() : NULL;
    const char *name, *run = NULL;
    size_t i;

    /* With a launcher the nodes are those that it gave. */
    if (json_array_size(names) == 0)
        json_object_foreach (json_object_get(doc, "nodes"), name, value)
            json_array_append_new(names, json_string(name));
    if (json_is_object(json_object_get(doc, "sweep")))
        run = sweep_run(doc, &i);
    json_object_update(out, (json_t *)(uintptr_t)doc);
    json_object_del(out, "request");
    json_object_del(out, "lasting");
    for (i = 0; i < sizeof(of_nodes) / sizeof(of_nodes[0]); i++)
        if (!has_nodes)
            json_object_del(out, of_nodes[i]);
    json_object_update_new(
        out,
        json_pack(
            "{s:s, s:s?, s:O?, s:o, s:o*, s:o*}", "state",
            json_is_null(json_object_get(doc, "next"))      ? "paused"
            : json_is_object(json_object_get(doc, "sweep")) ? "measuring"
                                                            : "waiting",
            "run", run, "last",
            json_object_get(json_array_get(json_object_get(doc, "sweeps"), 0), "verdict"),
            "coverage", coverage_json(doc, names, horizon_ms, now_ms, list, stale),
            "nodes", list, "stale", stale));
    json_decref(names);
    return out;
}
