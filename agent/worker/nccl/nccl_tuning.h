/* nccl_tuning.h - which algorithm NCCL takes for a call, by its log's subsystem TUNING
 *
 * Where its profiler interface tells nothing: another plugin, an older library, symmetric
 * and copy-engine kernels. NCCL prints such a line per call, so it is asked for around
 * single calls (2.24 on); before, it is read where the user has NCCL print it. Mostly
 * only rank 0 does. Formats: NCCL 2.20 to 2.30, src/enqueue.cc. What it chooses by comes
 * when a communicator is formed. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_TUNING_H
#define RINGBENCH_WORKER_NCCL_NCCL_TUNING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "agent/worker/bench/choice.h"
#include "agent/worker/nccl/nccl_table.h"

/* Zeroed: it is not read. */
struct nccl_tuning {
    bool is_read;
    bool is_switched;    /* TUNING is printed only because _begin asked for it */
    char *level, *parts; /* then: what was asked for before, or NULL */
    int output;          /* the real one, to which `reader` passes `lines` */
    FILE *lines;
    pthread_t reader;
    struct choice found;      /* the first in them */
    struct nccl_table *table; /* takes what else they say; or NULL */
};

/* From now on, if it can be had. reset: ncclResetDebugInit, or NULL. */
void nccl_tuning_begin(struct nccl_tuning *tuning, void (*reset)(void));
/* From now on, what is logged anyway, for a table of what NCCL chooses by, borrowed. */
void nccl_tuning_hear(struct nccl_tuning *tuning, struct nccl_table *table);
/* The first line since then that names a choice says what the calls were, or out stays as
 * it is; NULL: nobody asks. */
void nccl_tuning_end(struct nccl_tuning *tuning, void (*reset)(void), struct choice *out);

/* One line of the log; whether it names a choice. */
bool nccl_tuning_parse(const char *line, struct choice *out);

#endif
