/* watch.h - waiting for peers without missing their death
 *
 * A wait loop polls memory or sockets and calls watch_idle() each time it finds nothing.
 * It spins a little, then yields the processor (with more ranks than cores a spinning
 * rank only keeps the others from running), then sleeps in short naps; beside processes
 * that compute it sleeps at once. On the slow path
 * it looks, every few milliseconds, at the stop flag and at every peer: processes of this
 * host by pidfd, others by their socket, also those that the current operation does not
 * use. */
#ifndef RINGBENCH_WORKER_GROUP_WATCH_H
#define RINGBENCH_WORKER_GROUP_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/error.h"

struct watch_peer {
    int rank;
    int fd; /* pidfd or socket; -1: none */
    bool is_socket;
    bool is_borrowed; /* the fd is another watch's */
    pid_t pid;        /* without pidfd: probed with kill() */
};

/* The loss of a rank, for other processes that map it. */
struct watch_notice {
    _Atomic int32_t state; /* 0: no loss; 1: being written; 2: whole */
    int32_t lost, code;
    char text[256];
};

struct watch {
    int epoll_fd;
    const atomic_int *stop; /* may be NULL */
    unsigned spins;         /* polls before the first yield */
    bool is_crowded;        /* more processes than cores */
    atomic_bool is_leaving; /* peers may end now: only the deadline counts */
    int64_t leave_by_ns;
    const int *names;            /* by rank: the number that it goes by; NULL: its own */
    struct watch *also;          /* of further peers, looked at with these; NULL: none */
    struct watch_notice *notice; /* where a loss may be told; NULL: nowhere */
    atomic_bool is_claimed;      /* a thread records why waits end */
    atomic_bool has_failed;      /* it has */
    int lost;                    /* rank as it goes by, or -1; valid once has_failed */
    struct error error;          /* likewise; code ERROR_NONE before */
    int64_t checked_ns, probed_ns;
    unsigned spared; /* yields still to skip after a long one */
    struct watch_peer *peers;
    int n_peers, max_peers;
};

/* One wait: zero it before the loop and when something has moved. */
struct watch_idle {
    unsigned polls;
    int64_t since_ns;
};

int watch_init(struct watch *watch, int max_peers, const atomic_int *stop,
               struct error *err);
void watch_release(struct watch *watch);

/* Notice the end of process `pid` of this host as the loss of `rank`. */
int watch_add_process(struct watch *watch, int rank, pid_t pid, struct error *err);
/* Notice the end of a connection (borrowed; close it after watch_release). */
int watch_add_socket(struct watch *watch, int rank, int fd, struct error *err);

/* Watch the same peers in another thread. `from` must outlive it. */
int watch_follow(struct watch *watch, const struct watch *from, struct error *err);

/* Spin or yield depending on how many processes share this host's cores. */
void watch_set_sharers(struct watch *watch, int processes);

/* Record that a call on the socket of `rank` failed with this errno value, unless another
 * loss is the likely cause; the first one recorded stands. -1. The code is
 * ERROR_UNREACHABLE where the peer fell silent, and ERROR_PEER where it left. */
int watch_lose(struct watch *watch, int rank, int errnum);

/* Record the loss of a rank; the first one stands. Any thread. -1. */
int watch_lose_rank(struct watch *watch, int lost, enum error_code code,
                    const char *text);
/* The same of a process that has ended, and of a connection (errno; 0: closed). */
int watch_lose_process(struct watch *watch, int rank);
int watch_lose_socket(struct watch *watch, int rank, int errnum);
/* Write a recorded loss where others read it. Any thread. */
void watch_publish(const struct watch *watch, struct watch_notice *notice);

/* Record that the wait ends for a reason that is no peer's; the first one stands. -1. */
int watch_fail(struct watch *watch, enum error_code code, const char *text);

/* Copy what was recorded (err may be NULL). -1. */
int watch_reason(const struct watch *watch, struct error *err);

/* The number that a rank goes by. */
static inline int watch_name(const struct watch *watch, int rank)
{
    return watch->names ? watch->names[rank] : rank;
}

/* Look at the stop flag and all peers now. -1 when the wait must end. */
int watch_check(struct watch *watch);

/* The slow path; 0, or -1 when the wait must end: watch->error says why. */
int watch_idle_slow(struct watch *watch, struct watch_idle *idle);

/* Yield the processor. False, without yielding, `n` times after a yield that took long:
 * something else computes on this core. The kernel serves a process that yields last, and
 * one that wakes up first, so the caller had better sleep. left_out: how often that is
 * still to happen; 0 at first. */
bool watch_give_way(unsigned *left_out, unsigned n);

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
