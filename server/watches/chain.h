/* SPDX-License-Identifier: Apache-2.0 */
/* chain.h - what follows when a run of a watch has ended. Pure: it follows from the run's
 * document (docs/reference/api.md).
 *
 * A run is compared with those before it, and its own gate measures it again at once when
 * it is slower (analysis/gate.h). If it is slower again, pairs of its nodes are measured,
 * and their verdict names the node, the link or the rack, or says that none stands out.
 * A watch whose spec has the pattern pairs begins there. */
#ifndef RINGBENCH_SERVER_WATCHES_CHAIN_H
#define RINGBENCH_SERVER_WATCHES_CHAIN_H

#include <jansson.h>
#include <stdbool.h>

#include "server/finding/verdict.h"

struct chain_step {
    bool has_yielded;           /* to another run: measure the same nodes again later */
    bool was_alarm;             /* slower than usual at first, */
    bool is_unconfirmed;        /* and not when measured again */
    enum verdict_answer answer; /* PASS, FAIL, NOT_EVALUATED, NONE, SLOW_NODE, ... */
    const char *sentence;       /* that says why; borrowed from the run */
    json_t *named;       /* nodes that the answer names, an array; borrowed, or NULL */
    bool has_judged;     /* it says of each of its nodes whether that is slow */
    const char *lasting; /* the run with which a lasting slowdown began, or NULL */
    json_t *follow_up;   /* the spec to measure next, a new object, or NULL */
};

/* lasting: of a slowdown that was followed up already, or NULL. */
void chain_judge(const json_t *run, const char *lasting, struct chain_step *step);

/* The spec that measures pairs of the run's nodes, all pairs of up to 64 nodes. A new
 * object; NULL where a run has no such follow-up, or has not ended. */
json_t *chain_pairs(const json_t *run);

/* {"figure","level","low","high"} of a run over all of its nodes: its level in the band
 * that stands for it, and where one falls that did not change (null where too few runs
 * say). A new object; NULL: the run has no level. */
json_t *chain_level(const json_t *run);

#endif
