/* SPDX-License-Identifier: Apache-2.0 */
/* live_summary.c - sends a run's summary to the clients that follow the run */
#include "server/api/live_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/api/summary_answer.h"
#include "server/store/run_listed.h"
#include "server/store/run_packed.h"
#include "server/store/store_results.h"
#include "server/store/store_work.h"
#include "server/summary/summary_json.h"

#define INTERVAL_MS 500
#define REST_FACTOR 9 /* wait 9 times as long as the last summary took */
#define TEXT_MAX ((size_t)256 << 20)

struct summary_listener {
    LIST_ENTRY(summary_listener) entry;
    struct live_summary *live;
    live_summary_text *take;
    void *arg;
    bool has_all; /* the listener received all summaries up to the latest */
};

struct live_summary {
    LIST_ENTRY(live_summary) entry;
    struct api *api;
    char run[ID_RUN_LENGTH + 1];
    LIST_HEAD(, summary_listener) listeners;
    struct scheduler_watch *watch;
    uv_timer_t timer;
    int64_t next_ns;  /* earliest start of the next summary, on the monotonic clock */
    int64_t since;    /* id of the last event in the latest summary */
    bool is_over;     /* the run has ended, and everything is stored */
    bool has_changed; /* an event or listener came after the latest summary began */
    /* While set, a thread of the store makes a summary and uses the members below. */
    bool is_busy;

    json_t *doc; /* the run's document from the scheduler; NULL: read it from the store */
    bool wants_all, wants_changes, is_last;
    struct buf all, changes;
    int64_t last_event, began_ns;
};

static void begin(struct live_summary *live);

static void on_timer(uv_timer_t *timer)
{
    begin(timer->data);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_when_idle(struct live_summary *live)
{
    if (!LIST_EMPTY(&live->listeners) || live->is_busy)
        return;
    LIST_REMOVE(live, entry);
    scheduler_unwatch(live->watch);
    uv_close((uv_handle_t *)&live->timer, on_timer_closed);
}

/* ---- Timing ---- */

static void schedule(struct live_summary *live)
{
    int64_t wait_ns = live->next_ns - clock_monotonic_ns();
    uint64_t wait_ms = wait_ns > 0 && !live->is_over ? (uint64_t)(wait_ns / 1000000) : 0;

    if (!live->is_busy && (live->is_over || !uv_is_active((uv_handle_t *)&live->timer)))
        uv_timer_start(&live->timer, on_timer, wait_ms, 0);
}

static void on_event(void *arg, const struct store_event *event)
{
    struct live_summary *live = arg;

    live->is_over = !event;
    live->has_changed = true;
    schedule(live);
}

static void rest(struct live_summary *live, int64_t took_ns)
{
    int64_t wait_ns = REST_FACTOR * took_ns;

    if (wait_ns < INTERVAL_MS * INT64_C(1000000))
        wait_ns = INTERVAL_MS * INT64_C(1000000);
    live->next_ns = clock_monotonic_ns() + wait_ns;
}

/* ---- On the store's thread ---- */

/* Return a new array of the combinations whose series or figures changed after event
 * `since`. The format is that of an answer to a request for a summary. */
static json_t *combinations_of(const struct summary *summary, int64_t since,
                               const json_t *doc)
{
    json_t *all = summary_combinations(doc), *some = json_array(), *one;
    size_t n = json_array_size(all), i;
    bool *is_named = memory_zeroed(n + 1, sizeof(*is_named), "a summary");

    for (size_t k = 0; k < summary->n_series; k++)
        if (summary_series_changed(&summary->series[k], since) &&
            (size_t)summary->series[k].combination < n)
            is_named[summary->series[k].combination] = true;
    for (size_t k = 0; k < summary->n_figures; k++)
        if (summary->figures[k].latest > since &&
            (size_t)summary->figures[k].combination < n)
            is_named[summary->figures[k].combination] = true;
    json_array_foreach (all, i, one)
        if (is_named[i])
            json_array_append(some, one);
    json_decref(all);
    free(is_named);
    return some;
}

/* The data of a Server-Sent Event must be one line. JSON contains line breaks only
 * between values, so a space can replace each. */
static void join_lines(struct buf *text, size_t from)
{
    for (size_t i = from; i < text->len; i++)
        if (text->data[i] == '\n')
            text->data[i] = ' ';
}

static int put_text(const struct live_summary *live, const struct summary *summary,
                    int64_t since, struct buf *out)
{
    json_t *combinations = combinations_of(summary, since, live->doc);
    json_t *brief = run_listed(live->doc);
    size_t begin;
    int result;

    buf_append_str(out, "event: summary\ndata: ");
    begin = out->len;
    buf_append_str(out, since == 0 ? "{\"whole\":true,\"run\":" : "{\"run\":");
    json_append(brief, out);
    buf_append_str(out, ",\"combinations\":");
    json_append(combinations, out);
    buf_append_str(out, ",");
    result = summary_json_write(summary, since, out);
    join_lines(out, begin);
    json_decref(combinations);
    json_decref(brief);
    return result || buf_append_str(out, "}\n\n") ? -1 : 0;
}

static int make(sqlite3 *db, void *arg, struct error *err)
{
    struct live_summary *live = arg;
    struct summary_query query = {.run = live->run,
                                  .up_to = INT64_MAX,
                                  .points = SUMMARY_POINTS_DEFAULT,
                                  .by = SUMMARY_BY_COMBINATION};
    struct summary_case *cases;
    struct summary *summary;
    int result = 0;

    live->doc = live->doc ? run_unpack(live->doc) : store_get_run(db, live->run, err);
    if (!live->doc)
        return -1;
    query.cases = cases = summary_cases(live->doc, &query.n_cases);
    summary = summary_read(db, &query, err);
    free(cases);
    if (!summary)
        return -1;
    live->last_event = summary->last_event;
    if (live->wants_all)
        result |= put_text(live, summary, 0, &live->all);
    if (live->wants_changes)
        result |= put_text(live, summary, live->since, &live->changes);
    summary_destroy(summary);
    /* freed here, because freeing a large document would block the loop */
    json_decref(live->doc);
    live->doc = NULL;
    return result ? error_set(err, ERROR_LIMIT, "the summary is too long") : 0;
}

/* ---- On the loop ---- */

/* Send the last summary in full to every listener, because it may contain other points of
 * a long series than earlier summaries did. */
static void tell(struct live_summary *live, bool is_failed)
{
    struct summary_listener *listener = LIST_FIRST(&live->listeners), *next;

    for (; listener; listener = next) {
        bool wants_all = live->is_last || !listener->has_all;
        const struct buf *text = wants_all ? &live->all : &live->changes;
        /* A listener that joined while the summary was made waits for the next one. */
        bool is_made = !is_failed && text->len > 0;

        next = LIST_NEXT(listener, entry);
        if (!is_made && !live->is_last)
            continue;
        listener->has_all =
            listener->take(listener->arg, is_made ? text : NULL, live->is_last);
        live->has_changed = live->has_changed || !listener->has_all;
        if (live->is_last) {
            LIST_REMOVE(listener, entry);
            free(listener);
        }
    }
}

static void on_made(void *arg, const struct error *err)
{
    struct live_summary *live = arg;

    live->is_busy = false;
    if (err)
        log_warn("run %s: cannot summarize its results: %s", live->run, err->text);
    else
        live->since = live->last_event;
    rest(live, clock_monotonic_ns() - live->began_ns);
    tell(live, err != NULL);
    json_decref(live->doc);
    buf_release(&live->all);
    buf_release(&live->changes);
    if (!live->is_last && (live->has_changed || live->is_over))
        schedule(live);
    close_when_idle(live);
}

static void begin(struct live_summary *live)
{
    const struct summary_listener *listener;

    uv_timer_stop(&live->timer);
    live->began_ns = clock_monotonic_ns();
    live->is_last = live->is_over;
    live->doc =
        live->is_over ? NULL : scheduler_run_packed(live->api->scheduler, live->run);
    live->wants_all = live->is_over;
    live->wants_changes = false;
    LIST_FOREACH (listener, &live->listeners, entry) {
        live->wants_all = live->wants_all || !listener->has_all;
        live->wants_changes = live->wants_changes || listener->has_all;
    }
    buf_init(&live->all, TEXT_MAX);
    buf_init(&live->changes, TEXT_MAX);
    live->has_changed = false;
    live->is_busy = true;
    store_do(live->api->store, make, on_made, live);
}

/* ---- Listeners ---- */

static struct live_summary *find(struct api *api, const char *run)
{
    struct live_summary *live;

    LIST_FOREACH (live, &api->live_summaries, entry)
        if (strcmp(live->run, run) == 0 && !live->is_over)
            return live;
    live = memory_zeroed(1, sizeof(*live), "a summary");
    live->api = api;
    snprintf(live->run, sizeof(live->run), "%s", run);
    live->watch = scheduler_watch_run(api->scheduler, live->run, on_event, live);
    live->is_over = !live->watch;
    uv_timer_init(api->loop, &live->timer);
    live->timer.data = live;
    LIST_INSERT_HEAD(&api->live_summaries, live, entry);
    return live;
}

struct summary_listener *live_summary_listen(struct api *api, const char *run,
                                             live_summary_text *take, void *arg)
{
    struct summary_listener *listener = memory_zeroed(1, sizeof(*listener), "a listener");

    listener->live = find(api, run);
    listener->take = take;
    listener->arg = arg;
    LIST_INSERT_HEAD(&listener->live->listeners, listener, entry);
    listener->live->has_changed = true;
    schedule(listener->live);
    return listener;
}

void live_summary_leave(struct summary_listener *listener)
{
    struct live_summary *live = listener ? listener->live : NULL;

    if (!listener)
        return;
    LIST_REMOVE(listener, entry);
    free(listener);
    close_when_idle(live);
}
