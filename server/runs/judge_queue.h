/* SPDX-License-Identifier: Apache-2.0 */
/* judge_queue.h - runs that are judged, one after the other in the order in
 * which they ended, so that each finds the values of those before it. In the background
 * the same is done for runs that a crash or an older server left without values, the
 * newest first. On the loop. */
#ifndef RINGBENCH_SERVER_RUNS_JUDGE_QUEUE_H
#define RINGBENCH_SERVER_RUNS_JUDGE_QUEUE_H

#include "common/base/ids.h"
#include "server/store/store.h"
#include "server/store/store_work.h"

/* What is judged. */
struct judgement {
    /* A run that completed and whose checks need its results, all of which are on disk:
     * its document, that of its end (run_packed.h). Or NULL: a run that has ended and
     * whose values are due. */
    json_t *doc;
    struct store_base_query
        base;            /* doc: what it is compared with; its `run` is set here */
    char not_again[256]; /* doc: why it cannot be measured again; "": it can */
    char run[ID_RUN_LENGTH + 1]; /* no doc: which; "": the newest that is due */
    size_t skip;                 /* no doc: pass over as many newer runs */

    /* What came of it. */
    json_t *values;  /* as store_write_values takes them; NULL: none are due */
    json_t *verdict; /* of the checks (gate_judge); NULL without doc */
};

struct judge_queue;

/* Begins with what is due. The store is borrowed, and so are the figures that values are
 * noted in (last_figures.h). */
struct judge_queue *judge_queue_create(struct store *store, json_t *figures);

/* Stop, before the store is closed; it frees itself once nothing is under way. Callbacks
 * get ERROR_UNAVAILABLE. NULL is fine. */
void judge_queue_close(struct judge_queue *queue);

/* Called once. verdict: borrowed, as gate_judge has it; NULL with err. Returns whether
 * the run has ended by it: then its values are stored behind what was submitted by now.
 */
typedef bool run_judged(void *arg, const struct error *err, json_t *verdict);

/* Judge a run that has a document. judgement: copied, what it owns is taken. */
void judge_queue_add(struct judge_queue *queue, const struct judgement *judgement,
                     run_judged *judged, void *arg);

/* A run has ended, and its row says so: have its values made, unless they are. */
void judge_queue_note_end(struct judge_queue *queue, const char *run);

/* As scheduler_await_values. */
void judge_queue_await(struct judge_queue *queue, const char *run, store_settled *ready,
                       void *arg);

#endif
