/* value_keeper.c - makes the values of runs that have ended */
#include "server/runs/value_keeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "server/runs/case_values_read.h"
#include "server/store/store_trends.h"

#define SKIP_MAX 16 /* runs that fail one after the other: then it is not these runs */

struct waiter {
    STAILQ_ENTRY(waiter) entry;
    char run[ID_RUN_LENGTH + 1];
    value_keeper_ready *ready; /* NULL: the run has just ended, and nobody asked yet */
    void *arg;
};

struct value_keeper {
    uv_loop_t *loop;
    struct store *store;
    STAILQ_HEAD(, waiter)
    waiters;       /* in order: who asks waits for runs that ended before */
    bool has_more; /* runs may be due that are not among them */
    bool has_new;  /* since the run under way was begun one has ended */
    size_t skip;   /* so many of the newest of them failed since a run ended last */
    bool is_busy, is_closing;
    /* The run that is being made. */
    struct waiter *waiter; /* who waits for it, or NULL: nobody */
    json_t *run;
};

static const struct error stopping = {ERROR_UNAVAILABLE, "the server is stopping"};

static void make_next(struct value_keeper *keeper);

static void keeper_free(struct value_keeper *keeper)
{
    json_decref(keeper->run);
    free(keeper);
}

static void answer(struct waiter *waiter, const struct error *err)
{
    if (waiter && waiter->ready)
        waiter->ready(waiter->arg, err);
    free(waiter);
}

/* The run under way is done, or failed. */
static void finish(struct value_keeper *keeper, const struct error *err)
{
    struct waiter *waiter = keeper->waiter;

    keeper->waiter = NULL;
    keeper->is_busy = false;
    json_decref(keeper->run);
    keeper->run = NULL;
    if (err && !keeper->is_closing)
        log_warn("the values of a run cannot be made: %s", err->text);
    /* What fails is tried again when the next run ends; older ones do not wait for it. */
    if (keeper->has_new)
        keeper->skip = 0;
    else if (err && !waiter && ++keeper->skip > SKIP_MAX)
        keeper->has_more = false;
    keeper->has_new = false;
    answer(waiter, err);
    if (keeper->is_closing)
        keeper_free(keeper);
    else
        make_next(keeper);
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    (void)events;
    (void)n_events;
    finish(arg, err && err->code != ERROR_NOT_FOUND ? err : NULL);
}

static void on_values(void *arg, const struct error *err, struct case_values *values,
                      json_t *of_run)
{
    struct value_keeper *keeper = arg;
    struct store_write *write;

    case_values_destroy(values);
    if (err || keeper->is_closing) {
        json_decref(of_run);
        finish(keeper, err ? err : &stopping);
        return;
    }
    write = store_write_create();
    if (write)
        store_write_values(write, json_get_str(keeper->run, "id", ""), of_run);
    json_decref(of_run); /* now another thread gets it */
    store_submit(keeper->store, write, false, on_written, keeper);
}

static void on_due(void *arg, const struct error *err, json_t *run)
{
    struct value_keeper *keeper = arg;

    if (err || keeper->is_closing || !json_is_object(run)) {
        if (!keeper->waiter && !err)
            keeper->has_more = false;
        json_decref(run);
        finish(keeper, !err && keeper->is_closing ? &stopping : err);
        return;
    }
    keeper->run = run;
    case_values_read(keeper->loop, keeper->store, run, true, on_values, keeper);
}

static void make_next(struct value_keeper *keeper)
{
    if (keeper->is_busy || (STAILQ_EMPTY(&keeper->waiters) && !keeper->has_more))
        return;
    keeper->is_busy = true;
    keeper->has_new = false;
    keeper->waiter = STAILQ_FIRST(&keeper->waiters);
    if (keeper->waiter)
        STAILQ_REMOVE_HEAD(&keeper->waiters, entry);
    store_read_due(keeper->store, keeper->waiter ? keeper->waiter->run : NULL,
                   keeper->skip, on_due, keeper);
}

/* Returns -1 when memory is out. */
static int add_waiter(struct value_keeper *keeper, const char *run,
                      value_keeper_ready *ready, void *arg)
{
    struct waiter *waiter = calloc(1, sizeof(*waiter));

    if (!waiter)
        return -1;
    snprintf(waiter->run, sizeof(waiter->run), "%s", run);
    waiter->ready = ready;
    waiter->arg = arg;
    STAILQ_INSERT_TAIL(&keeper->waiters, waiter, entry);
    return 0;
}

static void on_run_ended(void *arg, const char *run)
{
    struct value_keeper *keeper = arg;

    /* Without memory, its turn comes among those that are due. */
    add_waiter(keeper, run, NULL, NULL);
    keeper->has_more = keeper->has_new = true;
    if (!keeper->is_busy)
        keeper->skip = 0;
    make_next(keeper);
}

struct value_keeper *value_keeper_create(uv_loop_t *loop, struct store *store)
{
    struct value_keeper *keeper = calloc(1, sizeof(*keeper));

    if (!keeper)
        return NULL;
    keeper->loop = loop;
    keeper->store = store;
    STAILQ_INIT(&keeper->waiters);
    store_on_run_ended(store, on_run_ended, keeper);
    keeper->has_more = true;
    make_next(keeper);
    return keeper;
}

void value_keeper_close(struct value_keeper *keeper)
{
    if (!keeper)
        return;
    store_on_run_ended(keeper->store, NULL, NULL);
    keeper->is_closing = true;
    while (!STAILQ_EMPTY(&keeper->waiters)) {
        struct waiter *waiter = STAILQ_FIRST(&keeper->waiters);

        STAILQ_REMOVE_HEAD(&keeper->waiters, entry);
        answer(waiter, &stopping);
    }
    if (!keeper->is_busy)
        keeper_free(keeper);
}

void value_keeper_ensure(struct value_keeper *keeper, const char *run,
                         value_keeper_ready *ready, void *arg)
{
    static const struct error out_of_memory = {ERROR_MEMORY, "out of memory"};

    if (add_waiter(keeper, run, ready, arg))
        ready(arg, &out_of_memory);
    else
        make_next(keeper);
}
