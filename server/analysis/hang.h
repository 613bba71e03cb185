/* SPDX-License-Identifier: Apache-2.0 */
/* hang.h - finds the rank that holds up a case without progress
 *
 * The verdict uses the progress that each rank last reported, and the state of the rank's
 * process according to the node's agent. If all ranks have made the same progress, no
 * rank is named. */
#ifndef RINGBENCH_SERVER_ANALYSIS_HANG_H
#define RINGBENCH_SERVER_ANALYSIS_HANG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hang_rank {
    int rank;
    const char *node;
    bool is_over;     /* the rank has reported its end, so it holds up no other rank */
    bool has_told;    /* the rank has reported the next four members */
    int64_t op, done; /* number of operations begun, and number of operations finished */
    int64_t size;     /* size of the operation, in bytes */
    const char *phase;
    double silent_s; /* time since the rank's last message, in s */
    /* a `stack` event of docs/development/agent-protocol.md, or NULL */
    const json_t *process;
    bool is_lagging; /* the verdict names the rank */
};

struct hang {
    struct hang_rank *ranks;
    size_t n;
    long seconds;     /* time without progress, in s */
    int64_t since_ms; /* wall clock at the last progress of any rank, in ms */
    bool is_program;  /* the case runs a program, whose ranks do not report progress */
    const char *mark; /* suffix of the sentence, see verdict_json() */
};

#define HANG_LISTED_MAX 16

/* Return the `hang` verdict as a new object, and set is_lagging of each rank. */
json_t *hang_verdict(const struct hang *hang);

#endif
