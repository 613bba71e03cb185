/* mover.h - a thread that moves bytes through endpoints for another one
 *
 * One thread, the owner, gives jobs; the mover does all that it has side by side, each as
 * far as it goes without waiting, and sleeps when none has moved for a while. A job and
 * its bytes are the mover's from mover_give until the job's state says otherwise. Nothing
 * is locked, and giving allocates nothing. */
#ifndef RINGBENCH_WORKER_HOST_MOVER_H
#define RINGBENCH_WORKER_HOST_MOVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/group/endpoint.h"
#include "common/base/error.h"

enum mover_state { MOVER_IDLE, MOVER_GIVEN, MOVER_DONE, MOVER_FAILED };

struct mover_job {
    struct endpoint *endpoint; /* with an fd; one job per direction at a time */
    bool is_send;
    char *data;
    size_t len, done;
    int errnum;       /* MOVER_FAILED */
    atomic_int state; /* enum mover_state; the owner takes it back to idle */
};

struct mover;

/* For at most so many jobs at a time; `spins`: looks in vain before it sleeps. */
struct mover *mover_create(const char *name, size_t jobs, unsigned spins,
                           struct error *err);
/* Drops what is not done. NULL is fine. */
void mover_destroy(struct mover *mover);

/* The job is idle, and all but its state is filled in. */
void mover_give(struct mover *mover, struct mover_job *job);

#endif
