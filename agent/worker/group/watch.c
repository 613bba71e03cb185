/* watch.c - waiting for peers without missing their death */
#include "agent/worker/group/watch.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/worker/base/affinity.h"
#include "common/base/clock.h"
#include "common/base/this_machine.h"

enum { NOTICE_NONE, NOTICE_BEGUN, NOTICE_WHOLE };

#define CHECK_NS 5000000   /* between looks at the peers */
#define PROBE_NS 500000000 /* between questions that cost more */
#define NAP_AFTER_NS 20000000
#define NAP_NS 100000
#define LONG_TURN_NS 500000 /* a yield that takes longer met a process that computes */
#define YIELDS_SPARED 32    /* few: then naps end before the next short calls are timed */
#define SILENCE_MS 2000 /* data without acknowledgement for so long: the peer is gone */
#define NEWS_NAPS 500   /* 50 ms and more */
#define SPINS_ALONE 2000
#define SPINS_CROWDED 2 /* whoever is awaited is likely waiting for this core */

/* The first reason stands. */
static int record(struct watch *watch, int lost, enum error_code code, const char *text)
{
    if (!atomic_exchange(&watch->is_claimed, true)) {
        watch->lost = lost;
        error_set(&watch->error, code, "%s", text);
        atomic_store(&watch->has_failed, true);
    }
    while (!atomic_load(&watch->has_failed))
        watch_relax();
    return -1;
}

int watch_lose_rank(struct watch *watch, int lost, enum error_code code, const char *text)
{
    return record(watch, lost, code, text);
}

static int lose(struct watch *watch, int rank, enum error_code code, const char *how)
{
    int lost = watch_name(watch, rank);
    char text[200];

    snprintf(text, sizeof(text), "lost rank %d: %s", lost, how);
    return record(watch, lost, code, text);
}

void watch_publish(const struct watch *watch, struct watch_notice *notice)
{
    int none = 0;

    if (!atomic_compare_exchange_strong(&notice->state, &none, NOTICE_BEGUN))
        return;
    notice->lost = watch->lost;
    notice->code = (int32_t)watch->error.code;
    snprintf(notice->text, sizeof(notice->text), "%.255s", watch->error.text);
    atomic_store(&notice->state, NOTICE_WHOLE);
}

/* A process that leaves, or dies, closes its connections; one that cannot be reached
 * leaves them to time out. */
static bool is_silence(int errnum)
{
    return errnum == ETIMEDOUT || errnum == EHOSTUNREACH || errnum == ENETUNREACH;
}

int watch_lose_socket(struct watch *watch, int rank, int errnum)
{
    return lose(watch, rank, is_silence(errnum) ? ERROR_UNREACHABLE : ERROR_PEER,
                errnum ? strerror(errnum) : "connection closed");
}

int watch_lose_process(struct watch *watch, int rank)
{
    return lose(watch, rank, ERROR_PEER, "its process has ended");
}

int watch_init(struct watch *watch, int max_peers, const atomic_int *stop,
               struct error *err)
{
    memset(watch, 0, sizeof(*watch));
    watch->stop = stop;
    watch->max_peers = max_peers;
    watch->lost = -1;
    watch->spins = SPINS_ALONE;
    watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (watch->epoll_fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "epoll");
    watch->peers = calloc((size_t)max_peers + 1, sizeof(*watch->peers)); /* never 0 */
    if (!watch->peers) {
        close(watch->epoll_fd);
        watch->epoll_fd = -1;
        return error_set(err, ERROR_MEMORY, "watching peers: out of memory");
    }
    return 0;
}

void watch_release(struct watch *watch)
{
    for (int i = 0; i < watch->n_peers; i++) {
        const struct watch_peer *peer = &watch->peers[i];
        if (!peer->is_socket && !peer->is_borrowed && peer->fd >= 0)
            close(peer->fd);
    }
    free(watch->peers);
    watch->peers = NULL;
    watch->n_peers = 0;
    if (watch->epoll_fd >= 0) {
        close(watch->epoll_fd);
        watch->epoll_fd = -1;
    }
}

static int add(struct watch *watch, const struct watch_peer *peer, uint32_t events,
               struct error *err)
{
    struct epoll_event event = {.events = events, .data.u32 = (uint32_t)peer->rank};

    assert(watch->n_peers < watch->max_peers);
    if (peer->fd >= 0 && epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, peer->fd, &event)) {
        return error_set_errno(err, ERROR_IO, errno, "watching rank %d",
                               watch_name(watch, peer->rank));
    }
    watch->peers[watch->n_peers++] = *peer;
    return 0;
}

int watch_add_process(struct watch *watch, int rank, pid_t pid, struct error *err)
{
    struct watch_peer peer = {.rank = rank, .pid = pid, .fd = -1};

    peer.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (peer.fd < 0 && errno == ESRCH) {
        lose(watch, rank, ERROR_PEER, "its process has ended");
        return watch_reason(watch, err);
    }
    return add(watch, &peer, EPOLLIN, err);
}

int watch_add_socket(struct watch *watch, int rank, int fd, struct error *err)
{
    struct watch_peer peer = {.rank = rank, .fd = fd, .is_socket = true};

    return add(watch, &peer, EPOLLRDHUP, err);
}

int watch_follow(struct watch *watch, const struct watch *from, struct error *err)
{
    if (watch_init(watch, from->n_peers, NULL, err))
        return -1;
    for (int i = 0; i < from->n_peers; i++) {
        struct watch_peer peer = from->peers[i];
        peer.is_borrowed = true;
        if (add(watch, &peer, peer.is_socket ? EPOLLRDHUP : EPOLLIN, err)) {
            watch_release(watch);
            return -1;
        }
    }
    return 0;
}

void watch_set_sharers(struct watch *watch, int processes)
{
    int cores = this_machine_cpus_count();

    /* Of a rank that is bound it is the agent who has seen to that. */
    watch->is_crowded = processes > (cores ? cores : 1) && !affinity_is_given();
    watch->spins = watch->is_crowded ? SPINS_CROWDED : SPINS_ALONE;
}

/* TCP_USER_TIMEOUT would also end the connection to a peer that lives but does not read
 * for a while (stopped in a debugger, or a benchmark's slow rank): that is a stall, not a
 * loss. A dead link shows as sent data that nothing acknowledges. */
static bool is_silent(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
        return false;
    return info.tcpi_unacked > 0 && info.tcpi_retransmits > 0 &&
           info.tcpi_last_ack_recv > SILENCE_MS && info.tcpi_last_data_sent > SILENCE_MS;
}

static int probe_peers(struct watch *watch)
{
    for (int i = 0; i < watch->n_peers; i++) {
        const struct watch_peer *peer = &watch->peers[i];
        if (peer->is_socket && is_silent(peer->fd)) {
            return lose(watch, peer->rank, ERROR_UNREACHABLE,
                        "no acknowledgement for 2 s");
        }
        if (!peer->is_socket && peer->fd < 0 && kill(peer->pid, 0) && errno == ESRCH)
            return lose(watch, peer->rank, ERROR_PEER, "its process has ended");
    }
    return 0;
}

static int lose_ended(struct watch *watch, int rank)
{
    for (int i = 0; i < watch->n_peers; i++) {
        const struct watch_peer *peer = &watch->peers[i];
        if (peer->rank != rank || !peer->is_socket)
            continue;
        int failure = 0;
        socklen_t len = sizeof(failure);
        getsockopt(peer->fd, SOL_SOCKET, SO_ERROR, &failure, &len);
        return watch_lose_socket(watch, rank, failure);
    }
    return lose(watch, rank, ERROR_PEER, "its process has ended");
}

/* A loss that the other watch sees is one here, too. */
static int check_also(struct watch *watch)
{
    if (!watch->also || watch_check(watch->also) == 0)
        return 0;
    return record(watch, watch->also->lost, watch->also->error.code,
                  watch->also->error.text);
}

int watch_check(struct watch *watch)
{
    struct epoll_event event;

    if (atomic_load_explicit(&watch->has_failed, memory_order_acquire))
        return -1;
    if (watch->stop && atomic_load_explicit(watch->stop, memory_order_relaxed))
        return record(watch, -1, ERROR_UNAVAILABLE, "told to stop");
    if (watch->is_leaving) {
        return clock_monotonic_ns() < watch->leave_by_ns
                   ? 0
                   : record(watch, -1, ERROR_TIMEOUT, "peers did not leave");
    }
    const struct watch_notice *notice = watch->notice;
    if (notice &&
        atomic_load_explicit(&notice->state, memory_order_acquire) == NOTICE_WHOLE)
        return record(watch, notice->lost, (enum error_code)notice->code, notice->text);
    if (watch->n_peers == 0)
        return 0;
    int64_t now = clock_monotonic_ns();
    watch->checked_ns = now;
    if (epoll_wait(watch->epoll_fd, &event, 1, 0) > 0)
        return lose_ended(watch, (int)event.data.u32);
    if (check_also(watch))
        return -1;
    if (now - watch->probed_ns > PROBE_NS) {
        watch->probed_ns = now;
        return probe_peers(watch);
    }
    return 0;
}

/* News of the loss that made a call fail may be on its way. */
static bool await_news(struct watch *watch)
{
    for (int i = 0; i < NEWS_NAPS; i++) {
        if (watch_check(watch))
            return true;
        watch_nap();
    }
    return false;
}

int watch_lose(struct watch *watch, int rank, int errnum)
{
    /* The failed call has taken the socket's error: another look would find it closed. */
    if (is_silence(errnum) || !await_news(watch))
        watch_lose_socket(watch, rank, errnum);
    return -1;
}

int watch_fail(struct watch *watch, enum error_code code, const char *text)
{
    return record(watch, -1, code, text);
}

int watch_reason(const struct watch *watch, struct error *err)
{
    if (err)
        *err = watch->error;
    return -1;
}

bool watch_give_way(unsigned *left_out, unsigned n)
{
    int64_t start_ns;

    if (*left_out > 0) {
        (*left_out)--;
        return false;
    }
    start_ns = clock_monotonic_ns();
    sched_yield();
    if (clock_monotonic_ns() - start_ns > LONG_TURN_NS)
        *left_out = n;
    return true;
}

void watch_nap(void)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    nanosleep(&nap, NULL);
}

int watch_idle_slow(struct watch *watch, struct watch_idle *idle)
{
    if (!watch_give_way(&watch->spared, YIELDS_SPARED))
        watch_nap();
    if (idle->polls % 16 != 0)
        return 0;
    int64_t now = clock_monotonic_ns();
    if (idle->since_ns == 0)
        idle->since_ns = now;
    if (now - watch->checked_ns >= CHECK_NS && watch_check(watch))
        return -1;
    if (now - idle->since_ns > NAP_AFTER_NS) {
        watch_nap();
        idle->polls |= 15u; /* look at the clock again after the next poll */
    }
    return 0;
}

void watch_leave(struct watch *watch, int64_t ms)
{
    watch->is_leaving = true;
    watch->leave_by_ns = clock_monotonic_ns() + ms * 1000000;
}
