/* SPDX-License-Identifier: Apache-2.0 */
/* judge_queue.h - judges ended runs one at a time, in the order in which they ended, so
 * that each run's checks can use the values of earlier runs. In the background the queue
 * also makes missing values, which a crash or an older server left out, for the newest
 * runs first. Runs on the loop. */
#ifndef RINGBENCH_SERVER_RUNS_JUDGE_QUEUE_H
#define RINGBENCH_SERVER_RUNS_JUDGE_QUEUE_H

#include "common/base/ids.h"
#include "server/store/store.h"
#include "server/store/store_work.h"

/* A queue entry. */
struct judgement {
    /* The final document (run_packed.h) of a completed run whose checks need its results,
     * all of which are on disk. NULL: only the run's values are due. */
    json_t *doc;
    /* with doc: the query for the run's baseline; the queue sets `run` */
    struct store_base_query base;
    /* with doc: why the run cannot be measured again; "" if it can */
    char not_again[256];
    char run[ID_RUN_LENGTH +
             1]; /* without doc: the run's ID; "": the newest run whose values are due */
    size_t skip; /* without doc: number of newer runs to skip */

    /* The results of judging. */
    json_t *values;  /* for store_write_values(); NULL: no values are due */
    json_t *verdict; /* the checks' verdict (gate_judge); NULL without doc */
};

struct judge_queue;

/* Create the queue and start to make the values that are due. `store` and `figures` are
 * borrowed; new values are added to `figures` (last_figures.h). */
struct judge_queue *judge_queue_create(struct store *store, json_t *figures);

/* Stop the queue before the store is closed; the queue frees itself once it is idle.
 * Callbacks get ERROR_UNAVAILABLE. NULL is fine. */
void judge_queue_close(struct judge_queue *queue);

/* Called once. verdict: the result of gate_judge(), borrowed; NULL with err. Returns true
 * if the callback ended the run. The run's values are then stored after all writes
 * submitted so far. */
typedef bool run_judged(void *arg, const struct error *err, json_t *verdict);

/* Judge the run in judgement->doc. judgement: copied; its contents are taken. */
void judge_queue_add(struct judge_queue *queue, const struct judgement *judgement,
                     run_judged *judged, void *arg);

/* Queue a run whose stored row is in a final state, to make its values unless they
 * exist. */
void judge_queue_note_end(struct judge_queue *queue, const char *run);

/* See scheduler_await_values. */
void judge_queue_await(struct judge_queue *queue, const char *run, store_settled *ready,
                       void *arg);

#endif
