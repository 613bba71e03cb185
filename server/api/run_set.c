/* run_set.c - several runs with what each of their cases has measured */
#include "server/api/run_set.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "server/runs/case_values_read.h"

#define COMPARISONS_MAX 2 /* one of a million results takes 650 MB for a moment */

static void read_next(struct run_set *set);

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
    for (size_t i = 0; i < set->n; i++) {
        json_decref(set->parts[i].doc);
        case_values_destroy(set->parts[i].values);
    }
    set->n = 0;
}

static void on_values(void *arg, const struct error *err, struct case_values *values,
                      json_t *of_run)
{
    struct run_set *set = arg;
    struct run_set_part *part = &set->parts[set->at];

    (void)of_run;
    if (err) {
        set->done(set->arg, err);
        return;
    }
    part->values = values;
    set->runs[set->at++] = (struct compare_run){part->doc, part->values};
    read_next(set);
}

/* All that its document counts is in the store now. */
static void on_settled(void *arg, const struct error *err)
{
    struct run_set *set = arg;

    if (err)
        set->done(set->arg, err);
    else
        case_values_read(set->api->loop, set->api->store, set->parts[set->at].doc, false,
                         on_values, set);
}

static void on_run(void *arg, const struct error *err, json_t *doc)
{
    struct run_set *set = arg;
    struct run_set_part *part = &set->parts[set->at];
    struct error none;

    if (err) {
        error_set(&none, ERROR_NOT_FOUND, "there is no run %s", part->id);
        set->done(set->arg, err->code == ERROR_NOT_FOUND ? &none : err);
        json_decref(doc);
        return;
    }
    part->doc = json_deep_copy(doc);
    json_decref(doc);
    if (part->doc)
        scheduler_settle(set->api->scheduler, part->id, on_settled, set);
    else
        set->done(set->arg, &(struct error){ERROR_MEMORY, "out of memory"});
}

static void read_next(struct run_set *set)
{
    struct run_set_part *part = &set->parts[set->at];
    json_t *doc;

    if (set->at == set->n) {
        set->done(set->arg, NULL);
        return;
    }
    doc = scheduler_run_json(set->api->scheduler, part->id);
    if (doc)
        on_run(set, NULL, doc);
    else
        store_read_run(set->api->store, part->id, on_run, set);
}

void run_set_read(struct run_set *set, struct api *api, run_set_done *done, void *arg)
{
    set->api = api;
    set->done = done;
    set->arg = arg;
    read_next(set);
}
