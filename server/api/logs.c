/* logs.c - what a run's workers printed */
#include <string.h>

#include "common/buf.h"
#include "common/clean_text.h"
#include "common/json_util.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX 10000
#define TEXT_BYTES_MAX ((size_t)256 << 20)

enum logs_form { LOGS_JSON, LOGS_TEXT };

static const struct params_format formats[] = {
    {"json", "application/json", LOGS_JSON},
    {"text", "text/plain", LOGS_TEXT},
    {NULL, NULL, 0},
};

struct logs_query {
    int64_t case_no, rank, limit, after;
    int form;
};

static bool read_query(struct http_request *request, struct logs_query *query)
{
    *query = (struct logs_query){.case_no = -1, .rank = -1, .limit = LIMIT_DEFAULT};
    return params_format(request, formats, &query->form) &&
           params_integer(request, "case", 0, INT32_MAX, &query->case_no) &&
           params_integer(request, "rank", 0, INT32_MAX, &query->rank) &&
           params_integer(request, "limit", 1, LIMIT_MAX, &query->limit) &&
           params_integer(request, "after", 0, INT64_MAX, &query->after);
}

/* An entry may hold several lines; each gets to know where it is from, unless the reader
 * asked for one rank. */
static void put_entry(const json_t *entry, bool is_one_rank, struct buf *out)
{
    const char *text = json_get_str(entry, "text", "");

    while (*text) {
        size_t len = strcspn(text, "\n");

        if (!is_one_rank)
            buf_printf(out, "[%lld:%lld %s] ", (long long)json_get_int(entry, "case", 0),
                       (long long)json_get_int(entry, "rank", 0),
                       json_get_str(entry, "stream", "?"));
        clean_text_show(out, text, len);
        buf_append_str(out, "\n");
        text += len + (text[len] == '\n');
    }
}

static void reply_text(struct http_request *request, const json_t *lines,
                       bool is_one_rank, int64_t next)
{
    struct buf out;

    buf_init(&out, TEXT_BYTES_MAX);
    for (size_t i = 0; i < json_array_size(lines); i++)
        put_entry(json_array_get(lines, i), is_one_rank, &out);
    if (next >= 0)
        buf_printf(&out, "# there is more: after=%lld\n", (long long)next);
    http_reply_text(request, 200, "text/plain; charset=utf-8", out.len ? out.data : "",
                    out.len);
    buf_release(&out);
}

static void on_logs(void *arg, const struct error *err, json_t *lines)
{
    struct http_request *request = parked_take(arg);
    struct logs_query query;
    int64_t next = -1;
    size_t count = json_array_size(lines);

    if (request && err) {
        http_reply_error(request, err);
        request = NULL;
    }
    if (!request || !read_query(request, &query)) {
        json_decref(lines);
        return;
    }
    if (count > 0 && (int64_t)count >= query.limit)
        next = json_get_int(json_array_get(lines, count - 1), "seq", 0);
    if (query.form == LOGS_TEXT) {
        reply_text(request, lines, query.rank >= 0, next);
        json_decref(lines);
        return;
    }
    http_reply_json(request, 200,
                    json_pack("{s:o, s:o}", "lines", lines, "next",
                              next >= 0 ? json_integer((json_int_t)next) : json_null()));
}

/* Whether the run has, or may come to have, the rank and the case that were asked for. */
static bool check_exists(struct http_request *request, const json_t *run,
                         const struct logs_query *query)
{
    int64_t ranks = json_get_int(run, "world_size", 0);
    int64_t cases = (int64_t)json_array_size(json_object_get(run, "cases"));

    if (ranks > 0 && query->rank >= ranks)
        http_reply_problem(request, 400, NULL,
                           "the run has no rank %lld: the last is %lld",
                           (long long)query->rank, (long long)ranks - 1);
    else if (cases > 0 && query->case_no >= cases)
        http_reply_problem(request, 400, NULL,
                           "the run has no case %lld: the last is %lld",
                           (long long)query->case_no, (long long)cases - 1);
    else
        return true;
    return false;
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct logs_query query;
    struct parked *parked;

    if (!read_query(request, &query) || !check_exists(request, run, &query))
        return;
    parked = parked_create(api, request);
    if (parked)
        store_read_logs(api->store, json_get_str(run, "id", ""), (int)query.case_no,
                        (int)query.rank, query.after, (int)query.limit, on_logs, parked);
}

void api_run_logs(struct http_request *request, void *arg)
{
    lookup_run(arg, request, http_request_param(request, "id"), found);
}
