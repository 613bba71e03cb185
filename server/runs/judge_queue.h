/* SPDX-License-Identifier: Apache-2.0 */
/* judge_queue.h - judges ended runs one at a time, in the order in which they ended, so
 * that each run's checks can use the values of earlier runs. In the background, the queue
 * computes values that a crash or an older server left out. It starts with the newest
 * runs. Runs on the loop. */
#ifndef RINGBENCH_SERVER_RUNS_JUDGE_QUEUE_H
#define RINGBENCH_SERVER_RUNS_JUDGE_QUEUE_H

#include "common/base/ids.h"
#include "server/store/store.h"
#include "server/store/store_work.h"

/* A queue entry. */
struct judgement {
    /* The final document (run_packed.h) of a completed run whose checks need its results.
     * All results are on disk. NULL: only compute the run's values. */
    json_t *doc;
    /* with doc: the query for the run's baseline; the queue sets its member `run` */
    struct store_base_query base;
    /* with doc: why the run cannot be measured again; "" if it can */
    char not_again[256];
    char run[ID_RUN_LENGTH +
             /* without doc: the run's ID; "": the newest run whose values are missing */
             1];
    size_t skip; /* without doc: number of newer runs to skip */

    /* The results of judging. */
    json_t *values;  /* for store_write_values(); NULL: there are no values to store */
    json_t *verdict; /* the checks' verdict (gate_judge); NULL without doc */
};

struct judge_queue;

/* Create the queue and start to compute missing values. `store` and `figures` are
 * borrowed. New values are added to `figures` (last_figures.h). */
struct judge_queue *judge_queue_create(struct store *store, json_t *figures);

/* Stop the queue before the store is closed. The queue frees itself once it is idle.
 * Callbacks get ERROR_UNAVAILABLE. NULL is allowed. */
void judge_queue_close(struct judge_queue *queue);

/* The callback of judge_queue_add(), called once. verdict: the result of gate_judge(),
 * borrowed; NULL with err. Returns true if the callback ended the run. The run's values
 * are then stored after all writes submitted so far. */
typedef bool run_judged(void *arg, const struct error *err, json_t *verdict);

/* Judge the run in judgement->doc. *judgement is copied, and the queue takes ownership of
 * its members. */
void judge_queue_add(struct judge_queue *queue, const struct judgement *judgement,
                     run_judged *judged, void *arg);

/* Queue a run whose stored row is in a final state, to compute its values unless they
 * exist. */
void judge_queue_note_end(struct judge_queue *queue, const char *run);

/* See scheduler_await_values. */
void judge_queue_await(struct judge_queue *queue, const char *run, store_settled *ready,
                       void *arg);

#endif
