/* SPDX-License-Identifier: Apache-2.0 */
/* links.c - the host backend's data connections: transfer data */
#include "agent/worker/host/links.h"

#include <errno.h>
#include <poll.h>

#define BLOCK_MS 5
#define YIELDS_CROWDED 10
#define YIELDS_SPARED 1024 /* large, because sleeping on a socket instead is cheap */

int links_push(struct links *links, struct flow *flow)
{
    struct endpoint *endpoint = flow->endpoint;
    ssize_t n = endpoint->transport->send(endpoint, flow->data + flow->done,
                                          flow->len - flow->done);

    if (n < 0)
        return watch_lose(links->watch, links_name(links, endpoint->rank), errno);
    flow->done += (size_t)n;
    return n > 0;
}

int links_pull(struct links *links, struct flow *flow)
{
    struct endpoint *endpoint = flow->endpoint;
    ssize_t n = endpoint->transport->recv(endpoint, flow->data + flow->done,
                                          flow->len - flow->done);

    if (n < 0)
        return watch_lose(links->watch, links_name(links, endpoint->rank), errno);
    flow->done += (size_t)n;
    return n > 0;
}

/* If ranks share cores, the awaited rank probably waits for this core. Yielding costs
 * half as much as sleeping and waking up. A long yield means that other work uses the
 * core; then sleeping is cheaper. */
static bool give_way(struct links *links, const struct watch_idle *idle)
{
    return links->watch->is_crowded &&
           idle->polls <= links->watch->polls + YIELDS_CROWDED &&
           watch_yield(&links->spared, YIELDS_SPARED);
}

/* Make one step of a wait on n sockets. With n = 0, wait for memory, on which a rank
 * cannot sleep. The kernel favors a process that wakes up from a socket over one that
 * yields. Sockets are therefore polled only briefly, while a message may arrive any
 * moment. */
static int rest(struct links *links, struct watch_idle *idle, struct pollfd *fds,
                nfds_t n)
{
    if (watch_progress(links->watch) || n == 0)
        return watch_idle(links->watch, idle);
    if (idle->polls++ < links->watch->polls) {
        watch_relax();
        return 0;
    }
    if (give_way(links, idle))
        return 0;
    watch_poll_less(links->watch);
    return poll(fds, n, BLOCK_MS) == 0 || idle->polls % 64 == 0
               ? watch_check(links->watch)
               : 0;
}

int links_rest(struct links *links, struct watch_idle *idle, const struct endpoint *in,
               const struct endpoint *out)
{
    nfds_t n = 0;

    if (in)
        links->pollfds[n++] = (struct pollfd){.fd = in->fd, .events = POLLIN};
    if (out)
        links->pollfds[n++] = (struct pollfd){.fd = out->out_fd, .events = POLLOUT};
    bool has_memory = (in && in->fd < 0) || (out && out->out_fd < 0);
    return rest(links, idle, links->pollfds, has_memory ? 0 : n);
}

/* Move as many bytes as possible without waiting. Of adjacent flows over one endpoint,
 * only the first unfinished one moves. */
static int move_flows(struct links *links, struct flow *flows, size_t n, bool is_send,
                      size_t *unfinished)
{
    const struct endpoint *busy = NULL;
    int moved = 0;

    *unfinished = 0;
    for (size_t i = 0; i < n; i++) {
        struct flow *flow = &flows[i];
        if (flow->done == flow->len)
            continue;
        if (flow->endpoint != busy) {
            int status = is_send ? links_push(links, flow) : links_pull(links, flow);
            if (status < 0)
                return -1;
            moved |= status;
        }
        if (flow->done < flow->len) {
            busy = flow->endpoint;
            ++*unfinished;
        }
    }
    return moved;
}

/* Add the sockets of unfinished flows; false if one of them is not a socket. */
static bool add_sockets(struct links *links, const struct flow *flows, size_t n,
                        short events, nfds_t *count)
{
    for (size_t i = 0; i < n; i++) {
        if (flows[i].done == flows[i].len)
            continue;
        const struct endpoint *endpoint = flows[i].endpoint;
        int fd = events == POLLIN ? endpoint->fd : endpoint->out_fd;
        if (fd < 0)
            return false;
        links->pollfds[(*count)++] = (struct pollfd){.fd = fd, .events = events};
    }
    return true;
}

int links_exchange(struct links *links, struct flow *sends, size_t n_sends,
                   struct flow *recvs, size_t n_recvs)
{
    struct watch_idle idle = {0};
    bool is_last = false;

    for (;;) {
        size_t to_send, to_recv;
        int sent = move_flows(links, sends, n_sends, true, &to_send);
        int received = sent < 0 ? -1 : move_flows(links, recvs, n_recvs, false, &to_recv);
        if (received < 0)
            return -1;
        if (to_send == 0 && to_recv == 0)
            return 0;
        if (sent || received) {
            idle = (struct watch_idle){0};
            continue;
        }
        nfds_t n = 0;
        if (!add_sockets(links, sends, n_sends, POLLOUT, &n) ||
            !add_sockets(links, recvs, n_recvs, POLLIN, &n))
            n = 0;
        /* After a failed wait, try once more: data may have come before the failure. */
        if (is_last)
            return -1;
        is_last = rest(links, &idle, links->pollfds, n) != 0;
    }
}
