/* watch_json.c - a watch as docs/reference/api.md shows it */
#include "server/watches/watch_json.h"

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/finding/template.h"
#include "server/watches/sweep.h"
#include "server/watches/watch_request.h"

static json_t *time_json(int64_t ms)
{
    char text[CLOCK_TEXT_MAX];

    return ms ? json_string(clock_format_ms(ms, text)) : json_null();
}

static json_t *batch_json(const json_t *batch)
{
    return json_pack(
        "{s:O, s:O, s:O?, s:O, s:O?, s:O?}", "nodes", json_object_get(batch, "nodes"),
        "state", json_object_get(batch, "state"), "run", json_object_get(batch, "run"),
        "runs", json_object_get(batch, "runs"), "answer",
        json_object_get(batch, "answer"), "sentence", json_object_get(batch, "sentence"));
}

static json_t *current_json(const json_t *sweep)
{
    json_t *batches = json_array(), *batch;
    size_t i;

    if (!json_is_object(sweep)) {
        json_decref(batches);
        return json_null();
    }
    json_array_foreach (json_object_get(sweep, "batches"), i, batch)
        json_array_append_new(batches, batch_json(batch));
    return json_pack("{s:o, s:o, s:o}", "due",
                     time_json(json_get_int(sweep, "due_ms", 0)), "begun",
                     time_json(json_get_int(sweep, "begun_ms", 0)), "batches", batches);
}

static json_t *node_json(const json_t *doc, const char *name, int64_t horizon_ms,
                         int64_t now_ms)
{
    const json_t *known = json_object_get(json_object_get(doc, "nodes"), name);
    int64_t measured_ms = json_get_int(known, "measured_ms", 0);
    int64_t since_ms = measured_ms ? measured_ms : json_get_int(doc, "created_ms", 0);

    return json_pack(
        "{s:s, s:o, s:b, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?}", "name", name, "measured",
        time_json(measured_ms), "stale",
        (int)(now_ms - since_ms > WATCH_STALE_AFTER * horizon_ms), "run",
        json_object_get(known, "run"), "answer", json_object_get(known, "answer"),
        "figure", json_object_get(known, "figure"), "level",
        json_object_get(known, "level"), "low", json_object_get(known, "low"), "high",
        json_object_get(known, "high"));
}

/* How many of the nodes were measured within the horizon, or a day if that is longer. */
static json_t *coverage_json(const json_t *doc, const json_t *names, int64_t horizon_ms,
                             int64_t now_ms)
{
    int64_t window_ms = horizon_ms > 86400000 ? horizon_ms : 86400000;
    json_t *stale = sweep_stale(doc, names, now_ms - window_ms);
    json_int_t n = (json_int_t)json_array_size(names);
    json_t *out =
        json_pack("{s:I, s:I, s:I}", "measured", n - (json_int_t)json_array_size(stale),
                  "nodes", n, "hours", (json_int_t)(window_ms / 3600000));

    json_decref(stale);
    json_object_set_new(out, "sentence",
                        template_text(n == 0 ? "there is no node to measure so far"
                                             : "{measured} of {nodes} node{nodes:/s} "
                                               "measured in the last {hours} h",
                                      out, NULL));
    return out;
}

/* With a launcher the nodes are those that it gave. */
static void name_known(const json_t *doc, json_t *names)
{
    const char *name;
    json_t *node;

    json_object_foreach (json_object_get(doc, "nodes"), name, node)
        json_array_append_new(names, json_string(name));
}

json_t *watch_json(const json_t *doc, json_t *nodes, int64_t horizon_ms, int64_t now_ms)
{
    json_t *request = json_object_get(doc, "request"), *names = json_copy(nodes);
    json_t *sweeps = json_object_get(doc, "sweeps"), *list = json_array(),
           *stale = json_array(), *one;
    json_t *out = json_copy(request), *sweep = json_object_get(doc, "sweep");
    bool is_paused = json_get_bool(doc, "paused", false);
    const char *run = NULL;
    size_t i;

    if (json_array_size(names) == 0)
        name_known(doc, names);
    json_array_foreach (names, i, one) {
        json_t *node = node_json(doc, json_string_value(one), horizon_ms, now_ms);

        if (json_get_bool(node, "stale", false))
            json_array_append(stale, one);
        json_array_append_new(list, node);
    }
    if (json_is_object(sweep))
        run = sweep_run(doc, &i);
    json_object_update_new(
        out,
        json_pack(
            "{s:O, s:O?, s:s, s:o, s:o, s:s?, s:o, s:O?, s:O, s:o, s:O, s:o, s:o, s:O}",
            "id", json_object_get(doc, "id"), "by", json_object_get(doc, "by"), "state",
            is_paused               ? "paused"
            : json_is_object(sweep) ? "measuring"
                                    : "waiting",
            "created", time_json(json_get_int(doc, "created_ms", 0)), "next",
            time_json(is_paused ? 0 : json_get_int(doc, "next_ms", 0)), "run", run,
            "sweep", current_json(sweep), "last",
            json_object_get(json_array_get(sweeps, 0), "verdict"), "sweeps", sweeps,
            "coverage", coverage_json(doc, names, horizon_ms, now_ms), "counts",
            json_object_get(doc, "counts"), "nodes", list, "stale", stale, "actions",
            json_object_get(doc, "actions")));
    json_decref(names);
    return out;
}
