/* SPDX-License-Identifier: Apache-2.0 */
/* judge_queue.h - the queue that judges runs one at a time, in the order in which they
 * ended, so that each sees the values of earlier runs. In the background it also makes
 * values for runs that a crash or an older server left without any, the newest first.
 * Runs on the loop. */
#ifndef RINGBENCH_SERVER_RUNS_JUDGE_QUEUE_H
#define RINGBENCH_SERVER_RUNS_JUDGE_QUEUE_H

#include "common/base/ids.h"
#include "server/store/store.h"
#include "server/store/store_work.h"

/* A queue entry. */
struct judgement {
    /* The end document (run_packed.h) of a completed run whose checks need its results,
     * all of which are on disk. NULL: the run has ended and its values are due. */
    json_t *doc;
    struct store_base_query
        base;            /* with doc: the query for its baseline; `run` is set here */
    char not_again[256]; /* with doc: why the run cannot be measured again; "": it can */
    char run[ID_RUN_LENGTH + 1]; /* without doc: the run; "": the newest that is due */
    size_t skip;                 /* without doc: number of newer runs to skip */

    /* The result. */
    json_t *values;  /* for store_write_values; NULL: none are due */
    json_t *verdict; /* the checks' verdict (gate_judge); NULL without doc */
};

struct judge_queue;

/* Create the queue and start with the values that are due. The store is borrowed, and so
 * is figures, to which values are added (last_figures.h). */
struct judge_queue *judge_queue_create(struct store *store, json_t *figures);

/* Stop the queue before the store is closed; the queue frees itself once it is idle.
 * Callbacks get ERROR_UNAVAILABLE. NULL is fine. */
void judge_queue_close(struct judge_queue *queue);

/* Called once. verdict: borrowed, as gate_judge returns it; NULL with err. Returns
 * whether this ended the run; its values are then stored after all writes submitted so
 * far. */
typedef bool run_judged(void *arg, const struct error *err, json_t *verdict);

/* Judge a run that has a document. judgement: copied; its contents are taken. */
void judge_queue_add(struct judge_queue *queue, const struct judgement *judgement,
                     run_judged *judged, void *arg);

/* Queue a run whose row says that it has ended, to make its values unless they exist. */
void judge_queue_note_end(struct judge_queue *queue, const char *run);

/* See scheduler_await_values. */
void judge_queue_await(struct judge_queue *queue, const char *run, store_settled *ready,
                       void *arg);

#endif
