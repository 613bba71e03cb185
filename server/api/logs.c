/* SPDX-License-Identifier: Apache-2.0 */
/* logs.c - answers requests for the output of a run's workers */
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/handlers.h"
#include "server/api/task.h"

/* the store limits a page to 1 MiB plus one entry */
#define LINES_BYTES_MAX ((size_t)64 << 20)

/* Workers may print bytes that are not UTF-8, which JSON cannot contain. If the text is
 * not valid UTF-8, replace every non-ASCII byte with a question mark. */
static json_t *log_text(const char *text, size_t len)
{
    json_t *value = json_stringn(text, len);
    char *ascii;

    if (value)
        return value;
    ascii = memory_zeroed(len + 1, 1, "a line of output");
    for (size_t i = 0; i < len; i++)
        ascii[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    value = json_stringn(ascii, len);
    free(ascii);
    return value;
}

/* Append the entry as an element of a JSON array. */
static int put_json(const struct store_log *log, struct buf *out)
{
    char time[CLOCK_TEXT_MAX];
    json_t *line = json_pack(
        "{s:I, s:s, s:i, s:i, s:s, s:o}", "seq", (json_int_t)log->seq, "time",
        clock_format_ms(log->time_ms, time), "case", log->case_no, "rank", log->rank,
        "stream", log->stream, "text", log_text(log->text, log->len));
    int result = -1;

    if (out->len == 0 || !buf_append_str(out, ",\n"))
        result = json_append(line, out);
    json_decref(line);
    return result;
}

/* Append each line of the entry. Prefix it with case, rank and stream unless the request
 * selects one rank. */
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

/* Fail if the requested rank or case is beyond the run's last one. */
static int check_exists(struct task *task, struct error *err)
{
    const struct logs_params *params = &task->params.logs;
    long long ranks = json_get_int(task->run, "world_size", 0);
    long long cases = (long long)json_array_size(json_object_get(task->run, "cases"));

    if (ranks > 0 && params->rank >= ranks)
        return task_refuse(task, 400, err,
                           "the run has no rank %lld: its last rank is %lld",
                           (long long)params->rank, ranks - 1);
    if (cases > 0 && params->case_no >= cases)
        return task_refuse(task, 400, err,
                           "the run has no case %lld: its last case is %lld",
                           (long long)params->case_no, cases - 1);
    return 0;
}

static int answer(sqlite3 *db, struct task *task, struct error *err)
{
    const struct logs_params *params = &task->params.logs;
    bool is_json = params->format->value == FORM_JSON;
    const struct store_logs_query query = {
        .run = http_request_param(task->request, "id"),
        .case_no = (int)params->case_no,
        .rank = (int)params->rank,
        .after = params->after,
        .limit = (int)params->limit,
        .put = is_json             ? put_json
               : params->rank >= 0 ? put_rank
                                   : put_all,
    };
    struct buf lines;
    int64_t next;

    if (check_exists(task, err))
        return -1;
    buf_init(&lines, LINES_BYTES_MAX);
    if (store_get_logs(db, &query, &lines, &next, err)) {
        buf_release(&lines);
        return -1;
    }
    buf_append_str(&task->out, is_json ? "{\"lines\":[" : "");
    buf_append(&task->out, lines.data, lines.len);
    if (is_json && next > 0)
        buf_printf(&task->out, "],\"next\":%lld}\n", (long long)next);
    else if (is_json)
        buf_append_str(&task->out, "],\"next\":null}\n");
    else if (next > 0)
        buf_printf(&task->out, "# there is more: after=%lld\n", (long long)next);
    buf_release(&lines);
    return 0;
}

void api_run_logs(struct http_request *request, void *arg)
{
    task_start(arg, request, &logs_route, TASK_PACKED_RUN, STORE_LONG, answer);
}
