/* logs.c - what a run's workers printed */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clean_text.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX 10000
#define TEXT_BYTES_MAX ((size_t)64 << 20) /* a page is 1 MiB and an entry */

enum logs_form { LOGS_JSON, LOGS_TEXT };

static const struct params_format formats[] = {
    [LOGS_JSON] = {"json", "application/json", LOGS_JSON},
    [LOGS_TEXT] = {"text", "text/plain", LOGS_TEXT},
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

/* What a process prints need not be UTF-8, which JSON must be: then its bytes beyond
 * ASCII are shown as question marks. */
static json_t *log_text(const char *text, size_t len)
{
    json_t *value = json_stringn(text, len);
    char *ascii;

    if (value)
        return value;
    ascii = malloc(len + 1);
    if (!ascii)
        return NULL;
    for (size_t i = 0; i < len; i++)
        ascii[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    value = json_stringn(ascii, len);
    free(ascii);
    return value;
}

/* The entries are members of an array. */
static int put_json(const struct store_log *log, struct buf *out)
{
    char time[CLOCK_TEXT_MAX];
    json_t *text = log_text(log->text, log->len);
    json_t *line =
        text
            ? json_pack("{s:I, s:s, s:i, s:i, s:s, s:o}", "seq", (json_int_t)log->seq,
                        "time", clock_format_ms(log->time_ms, time), "case", log->case_no,
                        "rank", log->rank, "stream", log->stream, "text", text)
            : NULL;
    char *written = line ? json_text(line) : NULL;
    int result = -1;

    if (written && (out->len == 0 || !buf_append_str(out, ",\n")))
        result = buf_append_str(out, written);
    free(written);
    json_decref(line);
    return result;
}

/* An entry may hold several lines; each gets to know where it is from, unless the reader
 * asked for one rank. */
static int put_lines(const struct store_log *log, bool is_one_rank, struct buf *out)
{
    const char *text = log->text, *end = text + log->len;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;

        if (!is_one_rank)
            buf_printf(out, "[%d:%d %s] ", log->case_no, log->rank, log->stream);
        clean_text_show(out, text, (size_t)(stop - text));
        if (buf_append_str(out, "\n"))
            return -1;
        text = stop + 1;
    }
    return 0;
}

static int put_all(const struct store_log *log, struct buf *out)
{
    return put_lines(log, false, out);
}

static int put_rank(const struct store_log *log, struct buf *out)
{
    return put_lines(log, true, out);
}

static store_log_put *put_of(const struct logs_query *query)
{
    if (query->form == LOGS_JSON)
        return put_json;
    return query->rank >= 0 ? put_rank : put_all;
}

static void reply_page(struct http_request *request, enum logs_form form,
                       const char *text, size_t len, int64_t next)
{
    struct buf out;

    buf_init(&out, TEXT_BYTES_MAX);
    buf_append_str(&out, form == LOGS_JSON ? "{\"lines\":[" : "");
    buf_append(&out, text, len);
    if (form == LOGS_JSON && next > 0)
        buf_printf(&out, "],\"next\":%lld}\n", (long long)next);
    else if (form == LOGS_JSON)
        buf_append_str(&out, "],\"next\":null}\n");
    else if (next > 0)
        buf_printf(&out, "# there is more: after=%lld\n", (long long)next);
    params_reply(request, 200, &formats[form], &out);
    buf_release(&out);
}

static void on_logs(void *arg, const struct error *err, const char *text, size_t len,
                    int64_t next)
{
    struct http_request *request = parked_take(arg);
    struct logs_query query;

    if (request && err)
        http_reply_error(request, err);
    else if (request && read_query(request, &query))
        reply_page(request, (enum logs_form)query.form, text, len, next);
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
        store_read_logs(api->store,
                        &(struct store_logs_query){.run = json_get_str(run, "id", ""),
                                                   .case_no = (int)query.case_no,
                                                   .rank = (int)query.rank,
                                                   .after = query.after,
                                                   .limit = (int)query.limit,
                                                   .put = put_of(&query)},
                        on_logs, parked);
}

void api_run_logs(struct http_request *request, void *arg)
{
    lookup_outline(arg, request, http_request_param(request, "id"), found);
}
