/* case_blame.h - whom a failed, late or stalled case names. Pure: reads the case, writes
 * a sentence. */
#ifndef RINGBENCH_SERVER_SCHEDULER_CASE_BLAME_H
#define RINGBENCH_SERVER_SCHEDULER_CASE_BLAME_H

#include <stdbool.h>
#include <stddef.h>

#include "server/scheduler/live_case.h"

/* Why the case failed: a lost node, else the first rank that failed by itself, else the
 * rank that most others blame. */
void case_blame(const struct live_case *live, const struct run_case *model, char *out,
                size_t size);

/* Whether waiting longer can't change the answer: a rank failed by itself, or all
 * reported. */
bool case_blame_is_clear(const struct live_case *live, const struct run_case *model);

/* Whether the loss of run node `i` explains what its peers say: the rank that they blame
 * lives there, or they blame each other. */
bool case_blame_is_explained(const struct live_case *live, size_t i);

/* "rendezvous: 3 of 4 ranks joined in 30 s; missing rank 2 on node-7 (...)". */
void case_blame_missing(const struct live_case *live, const struct run_case *model,
                        long join_s, char *out, size_t size);

/* "stalled: ..., behind: rank 2 on node-7 ...". */
void case_blame_stall(const struct live_case *live, long stall_s, char *out, size_t size);

#endif
