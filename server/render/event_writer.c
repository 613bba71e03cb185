/* SPDX-License-Identifier: Apache-2.0 */
/* event_writer.c - writes a run's events or result rows in each output format */
#include "server/render/event_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/render/csv.h"
#include "server/render/run_text.h"
#include "server/render/table.h"
#include "server/store/event_samples.h"

/* Delay in ms before an EventSource reconnects. */
#define SSE_RETRY_MS 1000

struct event_writer {
    enum event_form form;
    char *run;
    struct run_text *text; /* for EVENT_FORM_TEXT */
    struct table table;    /* for ROWS_FORM_TEXT */
    struct csv csv;
    char *cases; /* for ROWS_FORM_JSON: JSON list of the rows' cases */
    size_t rows;
    bool wants_samples, wants_ranks;
};

static const struct {
    const char *content_type;
    bool is_rows;
} forms[EVENT_FORM_COUNT] = {
    [EVENT_FORM_SSE] = {"text/event-stream", false},
    [EVENT_FORM_NDJSON] = {"application/x-ndjson", false},
    [EVENT_FORM_TEXT] = {"text/plain; charset=utf-8", false},
    [ROWS_FORM_JSON] = {"application/json", true},
    [ROWS_FORM_NDJSON] = {"application/x-ndjson", true},
    [ROWS_FORM_CSV] = {"text/csv; charset=utf-8; header=present", true},
    [ROWS_FORM_TEXT] = {"text/plain; charset=utf-8", true},
};

const char *event_form_content_type(enum event_form form)
{
    return forms[form].content_type;
}

bool event_form_is_rows(enum event_form form)
{
    return forms[form].is_rows;
}

/* Return the JSON array [{"case","repeat","env"}], in which a client finds the variables
 * of each row's case. */
static char *cases_text(const json_t *run)
{
    const json_t *cases = json_object_get(run, "cases");
    json_t *out = json_array();
    char *text;

    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        json_t *env = json_object_get(item, "env");
        json_t *brief = json_pack("{s:O, s:O}", "case", json_object_get(item, "case"),
                                  "repeat", json_object_get(item, "repeat"));

        if (brief && env)
            json_object_set(brief, "env", env);
        json_array_append_new(out, brief);
    }
    text = json_text(out);
    json_decref(out);
    return text;
}

static void init_table(struct event_writer *writer, const json_t *run)
{
    table_init(&writer->table, json_object_get(run, "spec"),
               json_array_size(json_object_get(run, "cases")) > 1);
    table_name_cases(&writer->table, json_object_get(run, "cases"));
}

struct event_writer *event_writer_create(enum event_form form, const json_t *run,
                                         const char *link, const char *post)
{
    struct event_writer *writer = memory_zeroed(1, sizeof(*writer), "a stream");

    writer->form = form;
    /* The table and the CSV writer copy only the parts they need, because a run may
     * contain many cases. */
    if (form == ROWS_FORM_TEXT)
        init_table(writer, run);
    if (form == ROWS_FORM_CSV)
        csv_init(&writer->csv, run);
    writer->cases = form == ROWS_FORM_JSON ? cases_text(run) : NULL;
    writer->run = memory_text(json_get_str(run, "id", ""), "a stream");
    if (form == EVENT_FORM_TEXT)
        writer->text = run_text_create(run, link, post);
    return writer;
}

void event_writer_destroy(struct event_writer *writer)
{
    if (!writer)
        return;
    table_release(&writer->table);
    csv_release(&writer->csv);
    free(writer->cases);
    run_text_destroy(writer->text);
    free(writer->run);
    free(writer);
}

void event_writer_want_samples(struct event_writer *writer)
{
    writer->wants_samples = true;
    writer->csv.has_samples = true;
}

void event_writer_say_stop(struct event_writer *writer)
{
    if (writer->text)
        run_text_say_stop(writer->text);
}

void event_writer_want_ranks(struct event_writer *writer)
{
    writer->wants_ranks = true;
}

void event_writer_begin(struct event_writer *writer, struct buf *out)
{
    switch (writer->form) {
    case EVENT_FORM_SSE:
        buf_printf(out, "retry: %d\n\n", SSE_RETRY_MS);
        break;
    case EVENT_FORM_TEXT:
        run_text_begin(writer->text, out);
        break;
    case ROWS_FORM_JSON:
        buf_printf(out, "{\"run\":\"%s\",\"cases\":%s,\"rows\":[", writer->run,
                   writer->cases);
        break;
    case ROWS_FORM_CSV:
        csv_header(&writer->csv, out);
        break;
    case EVENT_FORM_NDJSON:
    case ROWS_FORM_NDJSON:
    case ROWS_FORM_TEXT:
    case EVENT_FORM_COUNT:
        break;
    }
}

static int put_sse(const struct store_event *event, struct buf *out)
{
    if (buf_printf(out, "id: %" PRId64 "\nevent: %s\ndata: ", event->id, event->type) ||
        store_event_append(event, out))
        return -1;
    return buf_append_str(out, "\n\n");
}

/* Write an event in a form that requires parsing the event's body. */
static int put_parsed(struct event_writer *writer, const struct store_event *event,
                      struct buf *out)
{
    json_t *body = json_parse(event->body, event->body_len, NULL);

    if (!body)
        return -1;
    if (writer->form == EVENT_FORM_TEXT)
        run_text_event(writer->text, event->time_ms, event->type, body, out);
    else if (writer->form == ROWS_FORM_TEXT)
        table_row(&writer->table, body, out);
    else if (!writer->wants_samples || event_samples_unpack(event, body) == 0)
        csv_row(&writer->csv, body, out);
    json_decref(body);
    return 0;
}

/* Append a row's JSON up to its last brace. Omit "times_us" unless requested, because it
 * may contain the times of thousands of ranks. Quotes within strings are escaped, so the
 * search cannot match a string's content. */
static int put_members(const struct event_writer *writer, const struct store_event *event,
                       struct buf *out)
{
    static const char member[] = ",\"times_us\":[";
    const char *text = event->body, *last = text + event->body_len - 1;
    const char *from = memmem(text, event->body_len, member, sizeof(member) - 1);
    const char *to = from ? memchr(from, ']', (size_t)(last - from)) : NULL;

    if (writer->wants_ranks || !to)
        return buf_append(out, text, (size_t)(last - text));
    return buf_append(out, text, (size_t)(from - text)) ||
                   buf_append(out, to + 1, (size_t)(last - to - 1))
               ? -1
               : 0;
}

/* Append the event's body and, if requested, its samples. */
static int put_row(const struct event_writer *writer, const struct store_event *event,
                   struct buf *out)
{
    bool has_samples = writer->wants_samples && event->samples_len > 0;

    return put_members(writer, event, out) ||
                   (has_samples && event_samples_append(event, out)) ||
                   buf_append_str(out, "}")
               ? -1
               : 0;
}

int event_writer_event(struct event_writer *writer, const struct store_event *event,
                       struct buf *out)
{
    writer->rows++;
    switch (writer->form) {
    case EVENT_FORM_SSE:
        return put_sse(event, out);
    case EVENT_FORM_NDJSON:
        return store_event_append(event, out) || buf_append_str(out, "\n") ? -1 : 0;
    case ROWS_FORM_JSON:
        if (writer->rows > 1 && buf_append_str(out, ",\n"))
            return -1;
        return put_row(writer, event, out);
    case ROWS_FORM_NDJSON:
        return put_row(writer, event, out) || buf_append_str(out, "\n") ? -1 : 0;
    case EVENT_FORM_TEXT:
    case ROWS_FORM_CSV:
    case ROWS_FORM_TEXT:
        return put_parsed(writer, event, out);
    case EVENT_FORM_COUNT:
        break;
    }
    return -1;
}

void event_writer_end(struct event_writer *writer, bool is_over, struct buf *out)
{
    if (writer->form == EVENT_FORM_TEXT)
        run_text_end(writer->text, out);
    else if (writer->form == EVENT_FORM_SSE && is_over)
        buf_append_str(out, "event: end\ndata: {}\n\n");
    else if (writer->form == ROWS_FORM_JSON)
        buf_append_str(out, "]}\n");
    else if (writer->form == ROWS_FORM_TEXT)
        table_end(&writer->table, out);
}

void event_writer_end_page(struct event_writer *writer, int64_t next, struct buf *out)
{
    if (writer->form != ROWS_FORM_JSON)
        event_writer_end(writer, false, out);
    else if (next > 0)
        buf_printf(out, "],\"next\":%lld}\n", (long long)next);
    else
        buf_append_str(out, "],\"next\":null}\n");
}

bool event_writer_has_pending(const struct event_writer *writer)
{
    return writer->form == EVENT_FORM_TEXT && run_text_has_pending(writer->text);
}

void event_writer_flush(struct event_writer *writer, struct buf *out)
{
    if (writer->form == EVENT_FORM_TEXT)
        run_text_flush(writer->text, out);
}

bool event_writer_stop(struct event_writer *writer, struct buf *out)
{
    if (writer->form == EVENT_FORM_TEXT)
        run_text_stop(writer->text, out);
    return writer->form == EVENT_FORM_TEXT || writer->form == EVENT_FORM_SSE;
}

void event_writer_alive(struct event_writer *writer, int64_t now_ms, struct buf *out)
{
    if (writer->form == EVENT_FORM_SSE)
        buf_append_str(out, ": keep-alive\n\n");
    else if (writer->form == EVENT_FORM_TEXT)
        run_text_alive(writer->text, now_ms, out);
}
