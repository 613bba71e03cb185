/* SPDX-License-Identifier: Apache-2.0 */
/* lists.c - writes lists such as runs or nodes as JSON or as a table */
#include "server/api/lists.h"

#include "common/base/json_util.h"
#include "server/api/params.h"
#include "server/finding/verdict.h"

#define TEXT_MAX ((size_t)64 << 20)

static const struct column run_columns[] = {
    COLUMN("ID", "id"),
    COLUMN("STATE", "state"),
    COLUMN("CREATED", "created"),
    COLUMN(NULL, "started"),
    COLUMN(NULL, "ended"),
    COLUMN("BACKEND", "backend"),
    COLUMN("RANKS", "world_size", .form = COLUMN_NUMBER),
    COLUMN("DONE", "rows_done", .form = COLUMN_NUMBER),
    COLUMN("OF", "rows_total", .form = COLUMN_NUMBER),
    COLUMN("FIGURE", "summary.headline.text"),
    COLUMN("VERDICT", "verdict"),
    COLUMN("WHAT", "program", .otherwise = "collectives", .name = "what"),
    COLUMN(NULL, "labels"),
    COLUMN("NAME", "name"),
    COLUMNS_END,
};

static const struct column node_columns[] = {
    COLUMN("NAME", "name"),
    COLUMN("STATE", "state"),
    COLUMN("GROUP", "group"),
    COLUMN("RANKS", "ranks", .form = COLUMN_NUMBER),
    COLUMN("ADDRESS", "address"),
    COLUMN("SEEN", "last_seen"),
    COLUMN("RUN", "run"),
    COLUMN("NCCL", "versions.nccl"),
    COLUMN("LABELS", "labels"),
    COLUMN("HARDWARE", "hardware"),
    COLUMNS_END,
};

static const struct column program_columns[] = {
    COLUMN("NAME", "name"),
    COLUMN("RANKS/NODE", "ranks_per_node", .form = COLUMN_NUMBER),
    COLUMN("PARAMETERS", "parameters"),
    COLUMN("METRICS", "metrics"),
    COLUMN("NODES", "nodes"),
    COLUMN("DESCRIPTION", "description"),
    COLUMNS_END,
};

static const struct column store_columns[] = {
    COLUMN("NAME", "name"),
    COLUMN("STANDING", "standing"),
    COLUMN("PORT", "port", .form = COLUMN_NUMBER),
    COLUMN("CONNECTIONS", "connections", .form = COLUMN_NUMBER),
    COLUMN("KEYS", "key_count", .form = COLUMN_NUMBER),
    COLUMN("BYTES", "bytes", .form = COLUMN_NUMBER),
    COLUMN("TTL_S", "ttl_s", .form = COLUMN_NUMBER),
    COLUMNS_END,
};

static const struct column baseline_columns[] = {
    COLUMN("ID", "id"),
    COLUMN("RUN", "run"),
    COLUMN("NAME", "name"),
    COLUMN("LIKE", "like"),
    COLUMN("ACCEPTED", "accepted"),
    COLUMN("BY", "by"),
    COLUMN("REMOVED", "removed.time"),
    COLUMN("WHY", "why"),
    COLUMNS_END,
};

static const struct column launcher_columns[] = {
    COLUMN("NAME", "name"),
    COLUMN("NODES", "limits.nodes", .form = COLUMN_NUMBER),
    COLUMN("JOBS", "limits.jobs", .form = COLUMN_NUMBER),
    COLUMN("HOURS", "limits.hours", .form = COLUMN_NUMBER),
    COLUMN("WHO", "limits.who"),
    COLUMN("PARAMETERS", "parameters"),
    COLUMN("DESCRIPTION", "description"),
    COLUMNS_END,
};

static const struct column job_columns[] = {
    COLUMN("ID", "id"),
    COLUMN("STATE", "state"),
    COLUMN("CREATED", "created"),
    COLUMN("LAUNCHER", "launcher"),
    COLUMN("JOB", "job"),
    COLUMN("NODES", "nodes", .form = COLUMN_NUMBER),
    COLUMN("GROUP", "group"),
    COLUMN("RUN", "run"),
    COLUMN("UNTIL", "follow_up_until"),
    COLUMN("REASON", "reason"),
    COLUMNS_END,
};

static const struct column watch_columns[] = {
    COLUMN("ID", "id"),
    COLUMN("NAME", "name"),
    COLUMN("STATE", "state"),
    COLUMN("MODE", "mode"),
    COLUMN("NEXT", "next"),
    COLUMN("COVERAGE", "coverage.sentence"),
    COLUMN("ANSWER", "last.answer"),
    COLUMN("LAST", "last.sentence"),
    COLUMNS_END,
};

static const struct column suspect_columns[] = {
    COLUMN("NODE", "node"), COLUMN("SINCE", "since"),  COLUMN("WATCH", "watch"),
    COLUMN("RUN", "run"),   COLUMN("WHY", "sentence"), COLUMNS_END,
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
    [LIST_WATCHES] = {"watches", watch_columns},
    [LIST_SUSPECTS] = {"suspects", suspect_columns},
};

int lists_append(enum list list, const json_t *items, enum form form,
                 struct columns_layout *layout, struct buf *out)
{
    columns_write(lists[list].columns, items, form, layout, out);
    return out->is_cut ? -1 : 0;
}

/* Set the column VERDICT to the answers of those verdicts that state a result. */
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

static int write_list(enum list list, const json_t *document,
                      const struct params_format *format, struct buf *out,
                      struct error *err)
{
    const json_t *items = json_object_get(document, lists[list].key);
    const char *next = json_get_str(document, "next", NULL);
    struct columns_layout layout = {0};
    int result;

    if (format->value == FORM_JSON)
        result = json_line_append(document, out);
    else {
        if (list == LIST_RUNS && format->value != FORM_NDJSON)
            add_verdicts(items);
        result = lists_append(list, items, (enum form)format->value, &layout, out);
    }
    if (result)
        return error_set(err, ERROR_UNAVAILABLE,
                         "the list is too long for one response: ask for fewer "
                         "entries with limit or a filter");
    if (next && format->value == FORM_TEXT)
        buf_printf(out, "# there is more: cursor=%s\n", next);
    return 0;
}

int lists_write(struct task *task, enum list list, const json_t *document,
                const struct params_format *format, struct error *err)
{
    const char *next = json_get_str(document, "next", NULL);

    if (next)
        task_link_next(task, "cursor", next);
    return write_list(list, document, format, &task->out, err);
}

void lists_reply(struct http_request *request, enum list list,
                 const struct params_format *format, json_t *document)
{
    struct error err;
    struct buf out;

    buf_init(&out, TEXT_MAX);
    if (write_list(list, document, format, &out, &err))
        http_reply_error(request, &err);
    else
        params_reply(request, 200, format, &out);
    buf_release(&out);
    json_decref(document);
}
