/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - wait for peers, and notice when one is lost
 *
 * A wait loop polls memory or sockets and calls watch_idle() after each poll that finds
 * nothing. watch_idle() first spins briefly, then yields the processor, then sleeps in
 * short naps. Yielding matters with more ranks than cores, where a spinning rank keeps
 * others from running. On a core that another process uses, watch_idle() sleeps at once.
 *
 * The slow path also reads two flags in memory: a stop was requested, or a rank was lost.
 * The watchdog thread of this process or of the host's leader records a lost rank
 * (tree.h). */
#ifndef RINGBENCH_WORKER_GROUP_WATCH_H
#define RINGBENCH_WORKER_GROUP_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* The loss of a rank, in memory that other processes map. */
struct watch_notice {
    _Atomic int32_t state; /* 0: no loss; 1: being written; 2: complete */
    int32_t lost, code;
    char text[256];
};

struct watch {
    const atomic_int *stop; /* may be NULL */
    unsigned spins;         /* polls before the first yield */
    bool is_crowded;        /* true if processes outnumber cores */
    atomic_bool is_leaving; /* peers may exit: only the deadline ends waits */
    int64_t leave_by_ns;
    struct watch_notice *notice; /* the host's notice of a loss; NULL: none */
    atomic_bool is_claimed;      /* a thread is recording a failure */
    atomic_bool has_failed;      /* lost and error are set; waits end */
    int lost;                    /* the lost rank, or -1 */
    struct error error;          /* ERROR_NONE before a failure */
    unsigned polls;              /* polls of a socket before sleeping on it */
    uint64_t sleeps;             /* sleeps on sockets so far */
    unsigned spared;             /* number of yields still to skip after a long yield */
    /* called during waits, which then never sleep; NULL: none */
    void (*progress)(void *);
    void *progress_arg;
};

/* The state of one wait. Zero it before the loop and after each success. */
struct watch_idle {
    unsigned polls;
    int64_t since_ns;
};

void watch_init(struct watch *watch, const atomic_int *stop);

/* Set how many processes share this machine's cores: with too many, waits spin less. */
void watch_set_sharers(struct watch *watch, int processes);

/* Record that a call on the socket of `rank` failed with this errno value, unless another
 * loss is the likely cause. The first record is kept. The code is ERROR_UNREACHABLE if
 * the peer became silent, ERROR_PEER if it closed the connection. Returns -1. */
int watch_lose(struct watch *watch, int rank, int errnum);

/* Record the loss of a rank. The first record is kept. Any thread. Returns -1. */
int watch_lose_rank(struct watch *watch, int lost, enum error_code code,
                    const char *text);
/* Write a loss to an empty notice. Any thread. */
void watch_publish(struct watch_notice *notice, int lost, enum error_code code,
                   const char *text);

/* Describe the loss of a rank: its process has ended, or its connection failed with this
 * errno value (0: was closed). */
void watch_describe_end(int rank, struct error *out);
void watch_describe_cut(int rank, int errnum, struct error *out);

/* Record a failure that is not a loss. The first record is kept. Returns -1. */
int watch_fail(struct watch *watch, enum error_code code, const char *text);

/* Like watch_fail(), but a loss that is noticed within about 50 ms takes precedence. */
int watch_fail_after_news(struct watch *watch, const struct error *error);

/* Copy the recorded error; err may be NULL. Returns -1. */
int watch_reason(const struct watch *watch, struct error *err);

/* Returns -1 if the wait must end, else 0. Only reads flags. */
int watch_check(struct watch *watch);

/* The slow path of watch_idle(). Returns -1 if the wait must end, with the reason in
 * watch->error. */
int watch_idle_slow(struct watch *watch, struct watch_idle *idle);

/* Yield the processor. After a yield that took long, the next n calls return false
 * without yielding: another process computes on this core. The caller should then sleep,
 * because the kernel favors a process that wakes up over one that yields. *spared
 * counts the remaining calls; 0 at first. */
bool watch_yield(unsigned *spared, unsigned n);

/* Call before sleeping on a socket: adapts how long the next socket is polled. */
void watch_poll_less(struct watch *watch);

/* Sleep for about 100 us. */
void watch_nap(void);

/* From now on peers may exit. Waits end after `ms` at the latest. */
void watch_leave(struct watch *watch, int64_t ms);

static inline void watch_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Let a transport without a thread, such as UCX, make progress. False: there is none. */
static inline bool watch_progress(const struct watch *watch)
{
    if (watch->progress)
        watch->progress(watch->progress_arg);
    return watch->progress != NULL;
}

/* Call after a poll that found nothing. */
static inline int watch_idle(struct watch *watch, struct watch_idle *idle)
{
    if (idle->polls++ < watch->spins) {
        watch_relax();
        return 0;
    }
    return watch_idle_slow(watch, idle);
}

#endif
