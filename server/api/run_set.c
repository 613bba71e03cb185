/* run_set.c - several runs with what each of their cases has measured */
#include "server/api/run_set.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "server/runs/measured_run.h"

#define COMPARISONS_MAX 2 /* one of a million results takes 650 MB for a moment */

bool run_set_may(const struct api *api, struct http_request *request)
{
    if (api->comparisons < COMPARISONS_MAX)
        return true;
    http_reply_header(request, "Retry-After", "1");
    http_reply_problem(request, 503, NULL,
                       "%d comparisons are being made, which is the most",
                       COMPARISONS_MAX);
    return false;
}

size_t run_set_add(struct run_set *set, const char *id, size_t len)
{
    for (size_t i = 0; i < set->n; i++)
        if (strlen(set->parts[i].id) == len && strncmp(set->parts[i].id, id, len) == 0)
            return i;
    assert(set->n < RUN_SET_MAX);
    snprintf(set->parts[set->n].id, sizeof(set->parts->id), "%.*s", (int)len, id);
    return set->n++;
}

void run_set_release(struct run_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        measured_run_release(&set->runs[i]);
    set->n = 0;
}

/* On a thread of the store. */
static int read_all(sqlite3 *db, void *arg, struct error *err)
{
    struct run_set *set = arg;

    for (size_t i = 0; i < set->n; i++) {
        const char *id = set->parts[i].id;

        if (measured_run_read(db, id, &set->runs[i], err) == 0)
            continue;
        if (err->code == ERROR_NOT_FOUND)
            error_set(err, ERROR_NOT_FOUND, "there is no run %s", id);
        return -1;
    }
    return 0;
}

static void on_all_read(void *arg, const struct error *err)
{
    struct run_set *set = arg;

    set->done(set->arg, err);
}

static void on_settled(void *arg, const struct error *err);

/* Until all that the documents of active runs count is in the store. */
static void settle_next(struct run_set *set)
{
    while (set->n_settled < set->n && !set->runs[set->n_settled].doc)
        set->n_settled++;
    if (set->n_settled == set->n)
        store_do(set->api->store, read_all, on_all_read, set);
    else
        scheduler_settle(set->api->scheduler, set->parts[set->n_settled++].id, on_settled,
                         set);
}

static void on_settled(void *arg, const struct error *err)
{
    struct run_set *set = arg;

    if (err)
        set->done(set->arg, err);
    else
        settle_next(set);
}

void run_set_read(struct run_set *set, struct api *api, run_set_done *done, void *arg)
{
    set->api = api;
    set->done = done;
    set->arg = arg;
    for (size_t i = 0; i < set->n; i++) {
        json_t *doc = scheduler_run_json(api->scheduler, set->parts[i].id);

        set->runs[i].doc = json_deep_copy(doc); /* another thread gets it */
        json_decref(doc);
    }
    settle_next(set);
}
