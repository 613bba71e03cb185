/* lists.c - the API's lists: JSON, or columns for a terminal */
#include "server/api/lists.h"

#include "common/base/json_util.h"
#include "server/api/params.h"
#include "server/finding/verdict.h"

#define TEXT_MAX ((size_t)64 << 20)

static const struct column run_columns[] = {
    {"ID", "id", NULL, COLUMN_TEXT},
    {"STATE", "state", NULL, COLUMN_TEXT},
    {"CREATED", "created", NULL, COLUMN_TEXT},
    {"BACKEND", "backend", NULL, COLUMN_TEXT},
    {"RANKS", "world_size", NULL, COLUMN_NUMBER},
    {"DONE", "rows_done", NULL, COLUMN_NUMBER},
    {"OF", "rows_total", NULL, COLUMN_NUMBER},
    {"FIGURE", "summary.headline.text", NULL, COLUMN_TEXT},
    {"VERDICT", "verdict", NULL, COLUMN_TEXT},
    {"WHAT", "program", "collectives", COLUMN_TEXT},
    {"NAME", "name", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

static const struct column node_columns[] = {
    {"NAME", "name", NULL, COLUMN_TEXT},
    {"STATE", "state", NULL, COLUMN_TEXT},
    {"GROUP", "group", NULL, COLUMN_TEXT},
    {"RANKS", "ranks", NULL, COLUMN_NUMBER},
    {"ADDRESS", "address", NULL, COLUMN_TEXT},
    {"SEEN", "last_seen", NULL, COLUMN_TEXT},
    {"RUN", "run", NULL, COLUMN_TEXT},
    {"NCCL", "versions.nccl", NULL, COLUMN_TEXT},
    {"LABELS", "labels", NULL, COLUMN_TEXT},
    {"HARDWARE", "hardware", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

static const struct column program_columns[] = {
    {"NAME", "name", NULL, COLUMN_TEXT},
    {"RANKS/NODE", "ranks_per_node", NULL, COLUMN_NUMBER},
    {"PARAMETERS", "parameters", NULL, COLUMN_TEXT},
    {"METRICS", "metrics", NULL, COLUMN_TEXT},
    {"NODES", "nodes", NULL, COLUMN_TEXT},
    {"DESCRIPTION", "description", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

static const struct column store_columns[] = {
    {"NAME", "name", NULL, COLUMN_TEXT},
    {"STANDING", "standing", NULL, COLUMN_TEXT},
    {"PORT", "port", NULL, COLUMN_NUMBER},
    {"CONNECTIONS", "connections", NULL, COLUMN_NUMBER},
    {"KEYS", "key_count", NULL, COLUMN_NUMBER},
    {"BYTES", "bytes", NULL, COLUMN_NUMBER},
    {"TTL_S", "ttl_s", NULL, COLUMN_NUMBER},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

static const struct column baseline_columns[] = {
    {"ID", "id", NULL, COLUMN_TEXT},
    {"RUN", "run", NULL, COLUMN_TEXT},
    {"NAME", "name", NULL, COLUMN_TEXT},
    {"LIKE", "like", NULL, COLUMN_TEXT},
    {"ACCEPTED", "accepted", NULL, COLUMN_TEXT},
    {"BY", "by", NULL, COLUMN_TEXT},
    {"REMOVED", "removed.time", NULL, COLUMN_TEXT},
    {"WHY", "why", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

static const struct column launcher_columns[] = {
    {"NAME", "name", NULL, COLUMN_TEXT},
    {"NODES", "limits.nodes", NULL, COLUMN_NUMBER},
    {"JOBS", "limits.jobs", NULL, COLUMN_NUMBER},
    {"HOURS", "limits.hours", NULL, COLUMN_NUMBER},
    {"WHO", "limits.who", NULL, COLUMN_TEXT},
    {"PARAMETERS", "parameters", NULL, COLUMN_TEXT},
    {"DESCRIPTION", "description", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

static const struct column job_columns[] = {
    {"ID", "id", NULL, COLUMN_TEXT},
    {"STATE", "state", NULL, COLUMN_TEXT},
    {"CREATED", "created", NULL, COLUMN_TEXT},
    {"LAUNCHER", "launcher", NULL, COLUMN_TEXT},
    {"JOB", "job", NULL, COLUMN_TEXT},
    {"NODES", "nodes", NULL, COLUMN_NUMBER},
    {"GROUP", "group", NULL, COLUMN_TEXT},
    {"RUN", "run", NULL, COLUMN_TEXT},
    {"UNTIL", "follow_up_until", NULL, COLUMN_TEXT},
    {"REASON", "reason", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

static const struct {
    const char *key;
    const struct column *columns;
} lists[] = {
    [LIST_RUNS] = {"runs", run_columns},
    [LIST_NODES] = {"nodes", node_columns},
    [LIST_PROGRAMS] = {"programs", program_columns},
    [LIST_STORES] = {"stores", store_columns},
    [LIST_BASELINES] = {"baselines", baseline_columns},
    [LIST_LAUNCHERS] = {"launchers", launcher_columns},
    [LIST_JOBS] = {"jobs", job_columns},
};

int lists_append(enum list list, const json_t *items, struct columns_layout *layout,
                 struct buf *out)
{
    return columns_append(lists[list].columns, items, layout, out);
}

/* The answers that runs were to give, for the column of that name. */
static void add_verdicts(const json_t *runs)
{
    const json_t *verdict;
    json_t *run;
    size_t i, k;

    json_array_foreach (runs, i, run) {
        json_t *answers = json_array();

        json_array_foreach (json_object_get(run, "verdicts"), k, verdict)
            if (verdict_is_result(verdict))
                json_array_append(answers, json_object_get(verdict, "answer"));
        json_object_set_new(run, "verdict", answers);
    }
}

int lists_write(enum list list, const json_t *document,
                const struct params_format *format, struct buf *out, struct error *err)
{
    const json_t *items = json_object_get(document, lists[list].key);
    const char *next = json_get_str(document, "next", NULL);
    struct columns_layout layout = {0};
    int result;

    if (format->value == FORM_JSON)
        result = json_line_append(document, out);
    else {
        if (list == LIST_RUNS)
            add_verdicts(items);
        result = lists_append(list, items, &layout, out);
    }
    if (result)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the list is too long for text: take JSON");
    if (next && format->value != FORM_JSON)
        buf_printf(out, "# there is more: cursor=%s\n", next);
    return 0;
}

void lists_reply(struct http_request *request, enum list list,
                 const struct params_format *format, json_t *document)
{
    struct error err;
    struct buf out;

    buf_init(&out, TEXT_MAX);
    if (lists_write(list, document, format, &out, &err))
        http_reply_error(request, &err);
    else
        params_reply(request, 200, format, &out);
    buf_release(&out);
    json_decref(document);
}
