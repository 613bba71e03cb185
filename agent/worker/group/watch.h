/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - waiting for peers without missing their death
 *
 * A wait loop polls memory or sockets and calls watch_idle() each time it finds nothing.
 * It spins a little, then yields the processor (with more ranks than cores a spinning
 * rank only keeps the others from running), then sleeps in short naps; beside processes
 * that compute it sleeps at once. On the slow path it reads flags in memory: whether to
 * stop, and whether a rank is lost. Another thread finds that out, of this process or of
 * the host's leader (tree.h). */
#ifndef RINGBENCH_WORKER_GROUP_WATCH_H
#define RINGBENCH_WORKER_GROUP_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* The loss of a rank, for other processes that map it. */
struct watch_notice {
    _Atomic int32_t state; /* 0: no loss; 1: being written; 2: whole */
    int32_t lost, code;
    char text[256];
};

struct watch {
    const atomic_int *stop; /* may be NULL */
    unsigned spins;         /* polls before the first yield */
    bool is_crowded;        /* more processes than cores */
    atomic_bool is_leaving; /* peers may end now: only the deadline counts */
    int64_t leave_by_ns;
    struct watch_notice *notice; /* where a loss may be told; NULL: nowhere */
    atomic_bool is_claimed;      /* a thread records why waits end */
    atomic_bool has_failed;      /* it has */
    int lost;                    /* the rank that is lost, or -1 */
    struct error error;          /* why waits end; code ERROR_NONE before */
    unsigned polls;              /* of sockets, before sleeping on them */
    uint64_t sleeps;             /* on sockets, so far */
    unsigned spared;             /* yields still to skip after a long one */
    void (*progress)(void *);    /* called in waits; then nobody sleeps. NULL: none */
    void *progress_arg;
};

/* One wait: zero it before the loop and when something has moved. */
struct watch_idle {
    unsigned polls;
    int64_t since_ns;
};

void watch_init(struct watch *watch, const atomic_int *stop);

/* Spin or yield depending on how many processes share this host's cores. */
void watch_set_sharers(struct watch *watch, int processes);

/* Record that a call on the socket of `rank` failed with this errno value, unless another
 * loss is the likely cause; the first one recorded stands. -1. The code is
 * ERROR_UNREACHABLE where the peer fell silent, and ERROR_PEER where it left. */
int watch_lose(struct watch *watch, int rank, int errnum);

/* Record the loss of a rank; the first one stands. Any thread. -1. */
int watch_lose_rank(struct watch *watch, int lost, enum error_code code,
                    const char *text);
/* Write a loss where others read it, unless one stands there. Any thread. */
void watch_publish(struct watch_notice *notice, int lost, enum error_code code,
                   const char *text);

/* How the loss of a rank is told: its process has ended; its connection failed with this
 * errno value, or was closed (0). */
void watch_describe_end(int rank, struct error *out);
void watch_describe_cut(int rank, int errnum, struct error *out);

/* Record that the wait ends for a reason that is no peer's; the first one stands. -1. */
int watch_fail(struct watch *watch, enum error_code code, const char *text);

/* Likewise, unless news of a loss comes that is the likely cause. */
int watch_fail_after_news(struct watch *watch, const struct error *error);

/* Copy what was recorded (err may be NULL). -1. */
int watch_reason(const struct watch *watch, struct error *err);

/* Whether the wait must end (-1): reads flags, and waits for nothing. */
int watch_check(struct watch *watch);

/* The slow path; 0, or -1 when the wait must end: watch->error says why. */
int watch_idle_slow(struct watch *watch, struct watch_idle *idle);

/* Yield the processor. False, without yielding, `n` times after a yield that took long:
 * something else computes on this core. The kernel serves a process that yields last, and
 * one that wakes up first, so the caller had better sleep. left_out: how often that is
 * still to happen; 0 at first. */
bool watch_give_way(unsigned *left_out, unsigned n);

/* About to sleep on a socket that was polled in vain: set how often the next one is. */
void watch_poll_less(struct watch *watch);

/* Sleep for about 100 us. */
void watch_nap(void);

/* From here on peers may end: waits end after `ms` at the latest. */
void watch_leave(struct watch *watch, int64_t ms);

static inline void watch_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Let a transport get on that has no thread of its own; false: there is none. */
static inline bool watch_progress(const struct watch *watch)
{
    if (watch->progress)
        watch->progress(watch->progress_arg);
    return watch->progress != NULL;
}

/* Nothing was there: pass some time. */
static inline int watch_idle(struct watch *watch, struct watch_idle *idle)
{
    if (idle->polls++ < watch->spins) {
        watch_relax();
        return 0;
    }
    return watch_idle_slow(watch, idle);
}

#endif
