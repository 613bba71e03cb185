/* retention.c - deletes runs that are too old or too many */
#include "server/runs/retention.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"

#define LOOK_MS 60000
#define DAY_MS INT64_C(86400000)

struct retention {
    struct store *store;
    uv_timer_t timer;
    int64_t keep_runs, keep_days;
    bool is_busy, is_closing, is_timer_closed;
    size_t n_deleted; /* since the last rest */
};

static void delete_next(struct retention *retention);

static void free_if_done(struct retention *retention)
{
    if (retention->is_timer_closed && !retention->is_busy)
        free(retention);
}

/* Until the next minute. */
static void rest(struct retention *retention, const struct error *err)
{
    if (err && !retention->is_closing)
        log_warn("old runs stay: %s", err->text);
    if (retention->n_deleted > 0)
        log_info("%zu old runs are deleted", retention->n_deleted);
    retention->n_deleted = 0;
    retention->is_busy = false;
    free_if_done(retention);
}

static void on_deleted(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct retention *retention = arg;

    (void)events;
    (void)n_events;
    retention->n_deleted += !err;
    if (err || retention->is_closing)
        rest(retention, err);
    else
        delete_next(retention);
}

static void on_old(void *arg, const struct error *err, json_t *old)
{
    struct retention *retention = arg;
    const char *run = json_string_value(json_array_get(json_object_get(old, "runs"), 0));
    struct store_write *write;

    if (err || retention->is_closing || !run) {
        rest(retention, err);
    } else {
        write = store_write_create();
        store_write_delete(write, run);
        store_submit(retention->store, write, false, on_deleted, retention);
    }
    json_decref(old);
}

/* The oldest that has to go. */
static void delete_next(struct retention *retention)
{
    int64_t before_ms =
        retention->keep_days > 0 ? clock_wall_ms() - retention->keep_days * DAY_MS : 0;

    store_read_old(retention->store, retention->keep_runs, before_ms, 1, on_old,
                   retention);
}

static void on_timer(uv_timer_t *timer)
{
    struct retention *retention = timer->data;

    if (retention->is_busy)
        return;
    retention->is_busy = true;
    delete_next(retention);
}

struct retention *retention_create(uv_loop_t *loop, struct store *store,
                                   int64_t keep_runs, int64_t keep_days)
{
    struct retention *retention = memory_zeroed(1, sizeof(*retention), "the retention");

    retention->store = store;
    retention->keep_runs = keep_runs;
    retention->keep_days = keep_days;
    uv_timer_init(loop, &retention->timer);
    retention->timer.data = retention;
    if (keep_runs > 0 || keep_days > 0)
        uv_timer_start(&retention->timer, on_timer, 0, LOOK_MS);
    return retention;
}

static void on_closed(uv_handle_t *handle)
{
    struct retention *retention = handle->data;

    retention->is_timer_closed = true;
    free_if_done(retention);
}

void retention_close(struct retention *retention)
{
    if (!retention)
        return;
    retention->is_closing = true;
    uv_close((uv_handle_t *)&retention->timer, on_closed);
}
