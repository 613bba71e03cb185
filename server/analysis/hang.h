/* hang.h - who holds up a case in which no rank gets on: from where each rank said last
 * that it is, and what its node's agent sees of its process. Where all are at the same
 * place nobody is named. */
#ifndef RINGBENCH_SERVER_ANALYSIS_HANG_H
#define RINGBENCH_SERVER_ANALYSIS_HANG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hang_rank {
    int rank;
    const char *node;
    bool is_over;     /* it has said how it ended: it holds up nobody */
    bool has_told;    /* the next four were reported */
    int64_t op, done; /* operations begun and finished */
    int64_t size;     /* of the operation, bytes */
    const char *phase;
    double silent_s; /* since anything was heard of it */
    const json_t
        *process;    /* event `stack` of docs/development/agent-protocol.md, or NULL */
    bool is_lagging; /* the verdict names it */
};

struct hang {
    struct hang_rank *ranks;
    size_t n;
    long seconds;     /* without progress */
    int64_t since_ms; /* wall clock: when any rank last got on */
    bool is_program;  /* whose ranks do not say where they are */
    const char *mark; /* as verdict_json has it */
};

#define HANG_LISTED_MAX 16

/* The verdict of kind `hang`; sets is_lagging of each rank. A new object. */
json_t *hang_verdict(const struct hang *hang);

#endif
