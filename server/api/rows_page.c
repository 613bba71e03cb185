/* rows_page.c - a page of a run's result rows */
#include "server/api/rows_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/api/page_link.h"
#include "server/api/params.h"
#include "server/api/parked.h"

#define LIMIT_DEFAULT 500
#define LIMIT_MAX 2000
#define TEXT_MAX ((size_t)256 << 20)

/* The parameters that are numbers, and where they go. */
static const struct {
    const char *name;
    int64_t min, max;
    size_t offset;
} numbers[] = {
    {"after", 0, INT64_MAX, offsetof(struct store_rows_query, after)},
    {"case", 0, INT32_MAX, offsetof(struct store_rows_query, case_no)},
    {"series", 0, INT32_MAX, offsetof(struct store_rows_query, series)},
    {"group", 0, INT32_MAX, offsetof(struct store_rows_query, group)},
    {"size", 0, INT64_MAX, offsetof(struct store_rows_query, size)},
    {"row", 0, INT32_MAX, offsetof(struct store_rows_query, row)},
    {"rank", 0, INT32_MAX, offsetof(struct store_rows_query, rank)},
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

struct page {
    struct parked *parked;
    struct event_writer *writer;
    enum event_form form;
};

bool rows_page_is_asked(const struct http_request *request)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (http_request_query(request, numbers[i].name))
            return true;
    return http_request_query(request, "limit") || http_request_query(request, "metric");
}

/* The same page further on. */
static void link_next(struct http_request *request, int64_t next)
{
    static const char *const kept[] = {"case",   "series",  "group", "size",
                                       "row",    "rank",    "limit", "metric",
                                       "format", "samples", "ranks", NULL};
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, next);
    page_link_next(request, "after", text, kept);
}

static int write_rows(struct page *page, const struct store_events *rows, struct buf *out)
{
    event_writer_begin(page->writer, out);
    for (size_t i = 0; i < rows->n; i++)
        if (event_writer_event(page->writer, &rows->list[i], out))
            return -1;
    event_writer_end_page(page->writer, rows->next, out);
    return 0;
}

static void on_rows(void *arg, const struct error *err, struct store_events *rows)
{
    static const struct error unreadable = {ERROR_INTERNAL, "a row cannot be read"};
    struct page *page = arg;
    struct http_request *request = parked_take(page->parked);
    struct buf out;

    buf_init(&out, TEXT_MAX);
    if (request && err) {
        http_reply_error(request, err);
    } else if (request && write_rows(page, rows, &out)) {
        http_reply_error(request, &unreadable);
    } else if (request) {
        if (rows->next > 0)
            link_next(request, rows->next);
        http_reply_text(request, 200, event_form_content_type(page->form),
                        out.data ? out.data : "", out.len);
    }
    buf_release(&out);
    store_events_destroy(rows);
    event_writer_destroy(page->writer);
    free(page);
}

static bool read_query(struct http_request *request, struct store_rows_query *query)
{
    int64_t limit = LIMIT_DEFAULT;

    for (size_t i = 0; i < NUMBERS; i++) {
        int64_t *value = (int64_t *)(void *)((char *)query + numbers[i].offset);

        *value = numbers[i].min - 1;
        if (!params_integer(request, numbers[i].name, numbers[i].min, numbers[i].max,
                            value))
            return false;
    }
    if (query->after < 0)
        query->after = 0;
    query->metric = http_request_query(request, "metric");
    if (!params_integer(request, "limit", 1, LIMIT_MAX, &limit))
        return false;
    query->limit = (int)limit;
    return true;
}

void rows_page_reply(struct api *api, struct http_request *request, const json_t *run,
                     const struct follow_options *how)
{
    struct store_rows_query query = {.run = json_get_str(run, "id", "")};
    struct page *page;

    if (!read_query(request, &query))
        return;
    page = calloc(1, sizeof(*page));
    if (page)
        page->writer = event_writer_create(how->form, run, "", NULL);
    if (!page || !page->writer) {
        free(page);
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    if (how->wants_samples)
        event_writer_want_samples(page->writer);
    if (how->wants_ranks)
        event_writer_want_ranks(page->writer);
    page->form = how->form;
    page->parked = parked_create(api, request);
    if (!page->parked) {
        event_writer_destroy(page->writer);
        free(page);
        return;
    }
    store_read_rows(api->store, &query, on_rows, page);
}
