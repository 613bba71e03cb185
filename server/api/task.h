/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - a request that one function answers on a thread of the store
 *
 * The function gets a database connection, the request's parameters and, for a route of a
 * run, its document. It reads, computes, and fills in the answer. */
#ifndef RINGBENCH_SERVER_API_TASK_H
#define RINGBENCH_SERVER_API_TASK_H

#include <sqlite3.h>

#include "common/base/buf.h"
#include "server/api/api.h"
#include "server/api/params.h"
#include "server/api/route_params.h"
#include "server/store/store_work.h"

/* The parts of the run {id} in its path that a task gets. TASK_PACKED_RUN: its document,
 * whose cases may be texts (run_packed.h). TASK_RUN: the document. TASK_SETTLED_RUN: the
 * document and `head`, once the store contains everything that the document shows. An
 * unknown run is a 404. */
enum task_run {
    TASK_NO_RUN,
    TASK_PACKED_RUN,
    TASK_RUN,
    TASK_SETTLED_RUN,
    TASK_SETTLED_RUNS /* no document, but the store contains all that `given` shows */
};

struct task {
    struct api *api;                  /* loop's thread only */
    struct http_request *request;     /* its path and query may be read */
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
    json_t *run; /* may be modified at the top level only */
    /* last event that an unfinished run's document shows; INT64_MAX: all */
    int64_t head;
    const char *run_id; /* the path's, unless the handler sets another */

    /* Optional: */
    const char *values_of;      /* wait until this run's values are stored */
    void *own;                  /* the handler's own data */
    void (*release)(void *own); /* frees `own`; NULL: free() */
    json_t *given;              /* own data as JSON */
    struct store_write *write;  /* set by `work`: answer when it is committed */
    char *note;                 /* logged when it is committed; freed */
    int (*finish)(struct task *task, struct error *err); /* on the loop after `work` */
    /* for an error with status >= 400 */
    struct problems problems;
    bool is_alone; /* run after other such tasks have been answered */
    json_t *ended; /* ids of runs that the write made, or NULL */

    int status;       /* initially 200; from 400 on, the status of the error */
    const char *type; /* media type; default: the format's */
    struct buf out;
    json_t *headers; /* by name, or NULL */

    int (*work)(sqlite3 *db, struct task *task, struct error *err);
    enum task_run needs;
    enum store_thread thread;
    struct task *next; /* in the queue of tasks that run alone */
};

typedef int task_work(sqlite3 *db, struct task *task, struct error *err);

/* Further tasks on STORE_HEAVY are answered 503. */
#define TASK_HEAVY_MAX 8

/* Read the route's parameters (NULL: none, and JSON) and answer by `work` on the given
 * thread of the store. */
void task_start(struct api *api, struct http_request *request,
                const struct route_params *route, enum task_run needs,
                enum store_thread thread, task_work *work);

/* task_start() in two steps. task_create returns NULL after an error answer. */
struct task *task_create(struct api *api, struct http_request *request,
                         const struct route_params *route);
void task_run(struct task *task, enum task_run needs, enum store_thread thread,
              task_work *work);

/* Free a task that was answered before task_run. */
void task_free(struct task *task);

/* ---- For `work`: each returns the result that `work` returns ---- */

/* Answer with this JSON (taken). */
int task_json(struct task *task, json_t *json);
void task_header(struct task *task, const char *name, const char *value);
/* Fail with -1 and a problem of this status. */
int task_refuse(struct task *task, int status, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Add a Link header with rel="next": this resource with parameter `name` set to `value`
 * and the request's other parameters unchanged. */
void task_link_next(struct task *task, const char *name, const char *value);
/* Fail because the answer exceeds its limit. */
int task_too_large(struct error *err);

#endif
