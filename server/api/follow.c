/* SPDX-License-Identifier: Apache-2.0 */
/* follow.c - streams a run's events to a client: first the stored ones, then live ones */
#include "server/api/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/api/catchup.h"
#include "server/api/handlers.h"
#include "server/api/live_summary.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/route_params.h"
#include "server/store/store_work.h"

/* Events per page. The limit bounds the time that a page takes on the loop, and the
 * memory for pages when 2,000 clients connect at once. */
#define PAGE_EVENTS 64
/* Maximum size of a page in the client's format, in bytes. A page read from the store is
 * about 1 MiB. */
#define PAGE_BYTES_MAX ((size_t)64 << 20)
#define ALIVE_MS 15000
#define FLUSH_MS 2000
#define LINK_HOST_MAX 300
#define LINK_MAX (LINK_HOST_MAX + 80)

struct follower {
    struct api *api;
    struct http_stream *stream; /* NULL once the answer has ended */
    struct event_writer *writer;
    struct scheduler_watch *watch;
    struct summary_listener *summary; /* NULL: not requested, or finished */
    struct catchup catchup;
    uv_timer_t timer;
    char run[64];
    const char *type; /* which events to read: see store_get_events */
    int64_t after;    /* id of the last event before the page that is being read */
    struct store_events *page; /* the page that the store's thread read */
    /* highest id of a live event when the page was requested */
    int64_t asked;
    bool has_ended;  /* the run has ended */
    bool is_done;    /* all events are sent; only the summary is left */
    bool is_reading; /* a thread of the store uses this follower */
    /* the follower reads no page until the client has read the earlier pages */
    bool is_blocked;
    bool is_timer_closed;
};

static void read_page(struct follower *follower);

static void free_when_idle(struct follower *follower)
{
    if (follower->is_reading || !follower->is_timer_closed)
        return;
    event_writer_destroy(follower->writer);
    free(follower);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct follower *follower = handle->data;

    follower->is_timer_closed = true;
    free_when_idle(follower);
}

/* Release everything except the struct's memory, which a page read by the store's thread
 * or the timer's close callback still uses. */
static void leave(struct follower *follower)
{
    follower->stream = NULL;
    scheduler_unwatch(follower->watch);
    follower->watch = NULL;
    live_summary_leave(follower->summary);
    follower->summary = NULL;
    uv_close((uv_handle_t *)&follower->timer, on_timer_closed);
}

/* Called when the client has left or the server stops. A text answer ends with a final
 * line. An EventSource reconnects automatically. Answers in other formats end as
 * incomplete. */
static void on_gone(void *data)
{
    struct follower *follower = data;
    struct buf out;

    buf_init(&out, PAGE_BYTES_MAX);
    if (event_writer_stop(follower->writer, &out))
        http_stream_write(follower->stream, out.data, out.len);
    else
        http_stream_abort(follower->stream);
    buf_release(&out);
    leave(follower);
}

static void on_timer(uv_timer_t *timer);

static void arm_timer(struct follower *follower)
{
    bool is_pending = event_writer_has_pending(follower->writer);

    uv_timer_start(&follower->timer, on_timer, is_pending ? FLUSH_MS : ALIVE_MS, 0);
}

static void send_out(struct follower *follower, struct buf *out)
{
    if (out->len > 0)
        http_stream_write(follower->stream, out->data, out->len);
    buf_release(out);
    arm_timer(follower);
}

static void on_timer(uv_timer_t *timer)
{
    struct follower *follower = timer->data;
    struct buf out;

    buf_init(&out, PAGE_BYTES_MAX);
    if (event_writer_has_pending(follower->writer))
        event_writer_flush(follower->writer, &out);
    else if (http_stream_queued(follower->stream) == 0)
        event_writer_alive(follower->writer, clock_wall_ms(), &out);
    send_out(follower, &out);
}

static void finish(struct follower *follower)
{
    struct http_stream *stream = follower->stream;
    struct buf out;

    buf_init(&out, PAGE_BYTES_MAX);
    event_writer_end(follower->writer, follower->has_ended, &out);
    if (out.len > 0)
        http_stream_write(stream, out.data, out.len);
    buf_release(&out);
    leave(follower);
    http_stream_end(stream);
}

static void go_on(struct follower *follower, enum catchup_step step)
{
    switch (step) {
    case CATCHUP_READ:
        read_page(follower);
        break;
    case CATCHUP_WAIT:
        break;
    case CATCHUP_END:
        follower->is_done = true;
        if (!follower->summary)
            finish(follower);
        break;
    }
}

/* Refuse the summary if the client has not read earlier data. The client gets a complete
 * summary later. */
static bool on_summary(void *arg, const struct buf *text, bool is_last)
{
    struct follower *follower = arg;

    if (is_last)
        follower->summary = NULL;
    else if (http_stream_is_full(follower->stream))
        return false;
    if (text)
        http_stream_write(follower->stream, text->data, text->len);
    if (is_last && follower->stream && follower->is_done)
        finish(follower);
    return true;
}

static bool is_left_out(const struct follower *follower, const struct store_event *event)
{
    return follower->type && strcmp(follower->type, STORE_BUT_RESULTS) == 0 &&
           strcmp(event->type, "result") == 0;
}

static int write_events(struct follower *follower, const struct store_event *events,
                        size_t n)
{
    struct buf out;
    int result = 0;

    buf_init(&out, PAGE_BYTES_MAX);
    for (size_t i = 0; i < n && !result; i++)
        if (!is_left_out(follower, &events[i]))
            result = event_writer_event(follower->writer, &events[i], &out);
    send_out(follower, &out);
    return result;
}

/* End the answer so that the client sees it as incomplete. */
static void give_up(struct follower *follower)
{
    struct http_stream *stream = follower->stream;

    leave(follower);
    http_stream_abort(stream);
}

/* Send a page and determine the next step. Return -1 if the page cannot be sent. */
static int take_page(struct follower *follower, const struct store_events *page,
                     enum catchup_step *step)
{
    struct catchup *catchup = &follower->catchup;
    int64_t last_id = page->n ? page->list[page->n - 1].id : catchup->sent;

    if (write_events(follower, page->list, page->n))
        return -1;
    /* An empty page means that all events up to `asked` have types that were not
     * requested, so none of them is sent. */
    if (page->n == 0 && follower->asked > last_id)
        last_id = follower->asked;
    *step = catchup_page(catchup, last_id, page->n);
    return 0;
}

/* Runs on a thread of the store. Until on_page() is called, the loop's thread does not
 * use these members. */
static int get_page(sqlite3 *db, void *arg, struct error *err)
{
    struct follower *follower = arg;

    follower->page = store_get_events(db, follower->run, follower->after, follower->type,
                                      PAGE_EVENTS, err);
    return follower->page ? 0 : -1;
}

static void on_page(void *arg, const struct error *err)
{
    struct follower *follower = arg;
    struct store_events *page = follower->page;
    enum catchup_step step;

    follower->page = NULL;

    follower->is_reading = false;
    if (!follower->stream) {
        free_when_idle(follower);
    } else if (err || take_page(follower, page, &step)) {
        log_warn("run %s: cannot send further events: %s", follower->run,
                 err ? err->text : "a stored event is malformed");
        give_up(follower);
    } else {
        go_on(follower, step);
    }
    store_events_destroy(page);
}

static void read_page(struct follower *follower)
{
    if (follower->is_reading)
        return;
    if (http_stream_is_full(follower->stream)) {
        follower->is_blocked = true;
        return;
    }
    follower->is_reading = true;
    follower->asked = follower->catchup.seen;
    follower->after = follower->catchup.sent;
    store_do_on(follower->api->store, STORE_KEYED, get_page, on_page, follower);
}

static void on_drained(void *data)
{
    struct follower *follower = data;

    if (!follower->is_blocked)
        return;
    follower->is_blocked = false;
    read_page(follower);
}

static void on_live(void *arg, const struct store_event *event)
{
    struct follower *follower = arg;
    enum catchup_step step;

    if (!follower->stream)
        return;
    if (!event) {
        follower->has_ended = true;
        go_on(follower, catchup_over(&follower->catchup));
        return;
    }
    if (http_stream_is_full(follower->stream) && follower->catchup.is_live) {
        catchup_fall_back(&follower->catchup);
        catchup_event(&follower->catchup, event->id, &step);
        follower->is_blocked = true;
        return;
    }
    if (!catchup_event(&follower->catchup, event->id, &step)) {
        go_on(follower, step);
    } else if (write_events(follower, event, 1)) {
        log_warn("run %s: event %lld is malformed", follower->run, (long long)event->id);
        give_up(follower);
    }
}

/* Write the server's URL as the client used it. */
static void site_of(const struct api *api, const struct http_request *request,
                    char site[LINK_MAX])
{
    const char *host = http_request_header(request, "Host");

    snprintf(site, LINK_MAX, "http%s://%.*s", api->is_tls ? "s" : "", LINK_HOST_MAX,
             host ? host : "localhost");
}

static struct follower *follower_create(struct api *api, struct http_request *request,
                                        const json_t *run,
                                        const struct follow_options *options)
{
    struct follower *follower = memory_zeroed(1, sizeof(*follower), "a stream");
    char site[LINK_MAX], link[LINK_MAX + 80], post[LINK_MAX + 160];

    follower->api = api;
    if (event_form_is_rows(options->form))
        follower->type = "result";
    else if (options->is_bare)
        follower->type = STORE_BUT_RESULTS;
    follower->has_ended =
        !scheduler_run_is_active(api->scheduler, json_get_str(run, "id", ""));
    snprintf(follower->run, sizeof(follower->run), "%s", json_get_str(run, "id", ""));
    site_of(api, request, site);
    snprintf(link, sizeof(link), "%s/runs/%s", site, follower->run);
    snprintf(post, sizeof(post), "curl -X POST %s%s/api/v1/runs/%s",
             api->has_tokens ? "-H \"Authorization: Bearer $TOKEN\" " : "", site,
             follower->run);
    follower->writer = event_writer_create(options->form, run, link, post);
    if (options->status ==
        201) /* the command that stops the run is shown only to its creator */
        event_writer_say_stop(follower->writer);
    if (options->wants_samples)
        event_writer_want_samples(follower->writer);
    if (options->wants_ranks)
        event_writer_want_ranks(follower->writer);
    return follower;
}

static void begin(struct follower *follower, const struct follow_options *options)
{
    struct buf out;

    http_stream_on_drain(follower->stream, on_drained);
    uv_timer_init(follower->api->loop, &follower->timer);
    follower->timer.data = follower;
    if (options->is_endless)
        follower->watch = scheduler_watch_run(follower->api->scheduler, follower->run,
                                              on_live, follower);
    if (options->wants_summary && options->is_endless && options->form == EVENT_FORM_SSE)
        follower->summary =
            live_summary_listen(follower->api, follower->run, on_summary, follower);
    catchup_init(&follower->catchup, options->after, !follower->watch);
    buf_init(&out, PAGE_BYTES_MAX);
    event_writer_begin(follower->writer, &out);
    send_out(follower, &out);
    read_page(follower);
}

void follow_start(struct api *api, struct http_request *request, const json_t *run,
                  const struct follow_options *options)
{
    const char *type = event_form_content_type(options->form);
    struct follower *follower;

    follower = follower_create(api, request, run, options);
    follower->stream =
        http_stream_begin(request, options->status, type, on_gone, follower);
    if (!follower->stream) {
        event_writer_destroy(follower->writer);
        free(follower);
        return;
    }
    begin(follower, options);
}

/* ---- The route of a run's events ---- */

/* The parameter `after` overrides the header Last-Event-ID, which browsers send when they
 * reconnect. */
static bool read_params(struct http_request *request, struct events_params *params)
{
    const char *last = http_request_header(request, "Last-Event-ID");

    if (!params_read(request, &events_route, params))
        return false;
    if (params->after >= 0)
        return true;
    params->after = 0;
    if (!last || params_parse_integer(last, 0, INT64_MAX, &params->after) == 0)
        return true;
    http_reply_problem(
        request, 400, NULL,
        "the header Last-Event-ID must be the id of an event: a whole number");
    return false;
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct events_params params;

    if (read_params(request, &params))
        follow_start(
            api, request, run,
            &(struct follow_options){.status = 200,
                                     .form = (enum event_form)params.format->value,
                                     .after = params.after,
                                     .is_endless = params.is_endless,
                                     .is_bare = !params.has_results,
                                     .wants_summary = params.wants_summary});
}

void api_run_events(struct http_request *request, void *arg)
{
    const char *id = http_request_param(request, "id");
    struct events_params params;

    if (!read_params(request, &params))
        return;
    if (params.format->value == EVENT_FORM_TEXT)
        lookup_run(arg, request, id, found);
    else
        lookup_id(arg, request, id, found);
}
