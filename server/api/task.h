/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - a request that one function answers, on a thread of the store
 *
 * The function has a connection to the database, the request's parameters and, for a
 * route of a run, its document. It reads, computes, and fills in the answer. */
#ifndef RINGBENCH_SERVER_API_TASK_H
#define RINGBENCH_SERVER_API_TASK_H

#include <sqlite3.h>

#include "common/base/buf.h"
#include "server/api/api.h"
#include "server/api/params.h"
#include "server/api/route_params.h"
#include "server/store/store_work.h"

/* What a task gets of the run that {id} in its path names: nothing; its document, whose
 * cases may be texts (TASK_PACKED_RUN, see run_packed.h) or not; or the document when the
 * store has all that it shows, with `head`. No such run is a 404. */
enum task_run {
    TASK_NO_RUN,
    TASK_PACKED_RUN,
    TASK_RUN,
    TASK_SETTLED_RUN,
    TASK_SETTLED_RUNS /* none, but the store has what those in `given` show */
};

struct task {
    struct api *api;                  /* of the loop's thread */
    struct http_request *request;     /* path and query may be read */
    const struct route_params *route; /* or NULL */
    union {
        struct format_params any;
        struct results_params results;
        struct summary_params summary;
        struct projection_params projection;
        struct artifacts_params artifacts;
        struct differences_params differences;
        struct topology_params topology;
        struct import_params import;
        struct logs_params logs;
        struct verdict_params verdict;
        struct compare_params compare;
        struct base_params base;
        struct baselines_params baselines;
        struct baseline_remove_params baseline_remove;
        struct trends_params trends;
        struct run_list_params run_list;
    } params;
    json_t *run;        /* its members may be changed, but nothing in them */
    int64_t head;       /* the last event that a run under way shows; INT64_MAX: all */
    const char *run_id; /* that of the path, unless the handler sets another */

    /* If they are set: */
    const char *values_of;      /* wait until this run's values are made */
    void *own;                  /* what the handler prepared, */
    void (*release)(void *own); /* frees `own`; NULL: free() does */
    json_t *given;              /* the same as JSON */
    struct store_write *write;  /* set by `work`: the answer waits until it is durable */
    char *note;                 /* for the log then; freed */
    int (*finish)(struct task *task, struct error *err); /* after `work`, on the loop */
    struct problems problems;                            /* beside an error from 400 on */
    bool is_alone; /* begin it when others like it have been answered */
    json_t *ended; /* then: ids of runs that the write made, or NULL */

    int status;       /* 200; with an error from 400 on: that of the problem */
    const char *type; /* media type; by default the format's */
    struct buf out;
    json_t *headers; /* by name, or NULL */

    int (*work)(sqlite3 *db, struct task *task, struct error *err);
    enum task_run needs;
    enum store_thread thread;
    struct task *next; /* of those that are alone */
};

typedef int task_work(sqlite3 *db, struct task *task, struct error *err);

/* More tasks than so many on the thread of heavy ones are answered 503. */
#define TASK_HEAVY_MAX 8

/* Read the parameters of the route (NULL: JSON without any) and answer by `work`, on that
 * thread of the store. */
void task_start(struct api *api, struct http_request *request,
                const struct route_params *route, enum task_run needs,
                enum store_thread thread, task_work *work);

/* The same in two steps. NULL after an answer. */
struct task *task_create(struct api *api, struct http_request *request,
                         const struct route_params *route);
void task_run(struct task *task, enum task_run needs, enum store_thread thread,
              task_work *work);

/* A task that was answered, before task_run. */
void task_free(struct task *task);

/* ---- For `work`: each returns what it may return ---- */

/* The answer is this JSON (taken). */
int task_json(struct task *task, json_t *json);
void task_header(struct task *task, const char *name, const char *value);
/* -1, with a problem of this status. */
int task_refuse(struct task *task, int status, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Add a Link header with rel="next": this resource with parameter `name` set to `value`,
 * and the route's other parameters that the request has, as they are and as often. */
void task_link_next(struct task *task, const char *name, const char *value);
/* The answer is too large for its limit. */
int task_too_large(struct error *err);

#endif
