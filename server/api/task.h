/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - answers a request with one function that runs on a thread of the store
 *
 * The function receives a database connection, the request's parameters and, if the route
 * contains {id}, the run's document. It reads, computes, and writes the answer to the
 * task. */
#ifndef RINGBENCH_SERVER_API_TASK_H
#define RINGBENCH_SERVER_API_TASK_H

#include <sqlite3.h>

#include "common/base/buf.h"
#include "server/api/api.h"
#include "server/api/params.h"
#include "server/api/route_params.h"
#include "server/store/store_work.h"

/* The document that a task receives for the run {id} in its path. TASK_PACKED_RUN: the
 * document, in which cases may still be texts (run_packed.h). TASK_RUN: the full
 * document. TASK_SETTLED_RUN: the full document and `head`; the store then contains
 * everything in the document. If the run is unknown, the answer is 404. */
enum task_run {
    TASK_NO_RUN,
    TASK_PACKED_RUN,
    TASK_RUN,
    TASK_SETTLED_RUN,
    /* no document; the store contains everything in the documents of `given` */
    TASK_SETTLED_RUNS
};

struct task {
    struct api *api;                  /* used only on the loop's thread */
    struct http_request *request;     /* `work` may read its path and query */
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
    json_t *run; /* `work` may modify this object, but not the values in it */
    /* id of the last event that an unfinished run's document includes; INT64_MAX: all */
    int64_t head;
    const char *run_id; /* the run id in the path, unless the handler sets another */

    /* Optional: */
    const char *values_of;      /* start `work` after this run's values are stored */
    void *own;                  /* the handler's own data */
    void (*release)(void *own); /* frees `own`; NULL: free() */
    json_t *given;              /* the handler's own data as JSON */
    struct store_write *write;  /* set by `work`: the answer waits for its commit */
    char *note;                 /* line to log after the commit; freed with the task */
    /* called on the loop's thread after `work` */
    int (*finish)(struct task *task, struct error *err);
    /* details of an error whose status is 400 or more */
    struct problems problems;
    bool is_alone; /* tasks with this flag run one at a time */
    json_t *ended; /* ids of the ended runs that `write` stores, or NULL */

    int status;       /* HTTP status, initially 200; 400 or more for an error */
    const char *type; /* media type; NULL: the media type of the chosen format */
    struct buf out;
    json_t *headers; /* headers by name, or NULL */

    int (*work)(sqlite3 *db, struct task *task, struct error *err);
    enum task_run needs;
    enum store_thread thread;
    struct task *next; /* next in the queue of tasks that run one at a time */
};

typedef int task_work(sqlite3 *db, struct task *task, struct error *err);

/* Maximum number of tasks on STORE_HEAVY. Further tasks are answered with 503. */
#define TASK_HEAVY_MAX 8

/* Read the route's parameters, and answer with `work` on the given thread of the store.
 * If route is NULL, there are no parameters and the answer is JSON. */
void task_start(struct api *api, struct http_request *request,
                const struct route_params *route, enum task_run needs,
                enum store_thread thread, task_work *work);

/* The two steps of task_start(). task_create() returns NULL after answering an invalid
 * request. */
struct task *task_create(struct api *api, struct http_request *request,
                         const struct route_params *route);
void task_run(struct task *task, enum task_run needs, enum store_thread thread,
              task_work *work);

/* Free a task that was answered before task_run. */
void task_free(struct task *task);

/* ---- For `work`, which returns the result of these functions ---- */

/* Write the JSON as the answer. Takes the reference to `json`. */
int task_json(struct task *task, json_t *json);
void task_header(struct task *task, const char *name, const char *value);
/* Return -1 after setting the error and its HTTP status. */
int task_refuse(struct task *task, int status, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Add a Link header with rel="next". The link repeats the request with its parameter
 * `name` set to `value`. */
void task_link_next(struct task *task, const char *name, const char *value);
/* Return -1 with the error that the answer exceeds its limit. */
int task_too_large(struct error *err);

#endif
