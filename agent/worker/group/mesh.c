/* mesh.c - every rank connected with every other: barrier, all-gather, exchange */
#include "agent/worker/group/mesh.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/base/affinity.h"
#include "agent/worker/group/mesh_join.h"
#include "common/base/clock.h"

#define LEAVE_MS 5000
#define POLLS_ALONE 300 /* of sockets, before sleeping on them: some 100 us */
#define POLLS_CROWDED 2
#define BLOCKS_TRIED 64 /* sleeps between two tries at polling */
#define BLOCK_MS 5
#define YIELDS_CROWDED 10
#define YIELDS_SPARED 1024 /* sleeping on a socket instead costs little */

static int connect_all(struct mesh *mesh, const struct mesh_config *config,
                       struct error *err)
{
    if (watch_init(&mesh->watch, config->join.world_size, config->join.stop, err))
        return -1;
    mesh->watch.names = config->names;
    return shm_group_init(&mesh->group, &mesh->watch, err) ||
                   mesh_join(mesh, config, err) || mesh_barrier(mesh, err)
               ? -1
               : 0;
}

struct mesh *mesh_create(const struct mesh_config *config, struct error *err)
{
    struct mesh *mesh = calloc(1, sizeof(*mesh));

    if (!mesh) {
        error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
        return NULL;
    }
    mesh->rank = config->join.rank;
    mesh->world_size = config->join.world_size;
    mesh->polls = POLLS_ALONE;
    mesh->group.fd = -1;
    mesh->watch.epoll_fd = -1;
    if (connect_all(mesh, config, err)) {
        mesh_abort(mesh);
        return NULL;
    }
    return mesh;
}

void mesh_abort(struct mesh *mesh)
{
    if (!mesh)
        return;
    watch_release(&mesh->watch);
    for (int i = 0; mesh->endpoints && i < mesh->world_size; i++)
        endpoint_close(&mesh->endpoints[i]);
    shm_group_release(&mesh->group);
    free(mesh->endpoints);
    free(mesh->fds);
    free(mesh->group_of);
    free(mesh->ring);
    free(mesh);
}

void mesh_destroy(struct mesh *mesh)
{
    if (mesh && mesh->watch.error.code == ERROR_NONE) {
        /* A peer that is through with this barrier ends while others are still in it. */
        watch_leave(&mesh->watch, LEAVE_MS);
        mesh_barrier(mesh, NULL);
    }
    mesh_abort(mesh);
}

int mesh_push(struct mesh *mesh, struct flow *flow)
{
    struct endpoint *endpoint = flow->endpoint;
    ssize_t n = endpoint->transport->send(endpoint, flow->data + flow->done,
                                          flow->len - flow->done);

    if (n < 0)
        return watch_lose(&mesh->watch, endpoint->rank, errno);
    flow->done += (size_t)n;
    return n > 0;
}

int mesh_pull(struct mesh *mesh, struct flow *flow)
{
    struct endpoint *endpoint = flow->endpoint;
    ssize_t n = endpoint->transport->recv(endpoint, flow->data + flow->done,
                                          flow->len - flow->done);

    if (n < 0)
        return watch_lose(&mesh->watch, endpoint->rank, errno);
    flow->done += (size_t)n;
    return n > 0;
}

/* The kernel may have put a rank that is bound to no core on that of the peer, which it
 * then keeps from answering: polling that was in vain is seldom tried again. */
static void spin_less(struct mesh *mesh)
{
    mesh->blocks++;
    if (mesh->watch.is_crowded)
        mesh->polls = POLLS_CROWDED;
    else if (affinity_is_given() || mesh->blocks % BLOCKS_TRIED == 1)
        mesh->polls = POLLS_ALONE;
    else
        mesh->polls = mesh->polls / 4 + POLLS_CROWDED;
}

/* Where ranks share cores the one that is awaited likely waits for this one, and to let
 * it go on costs half of what sleeping and being woken does. Who has a long turn is no
 * such rank: with other work on the core sleeping is cheaper. */
static bool give_way(struct mesh *mesh, const struct watch_idle *idle)
{
    return mesh->watch.is_crowded && idle->polls <= mesh->polls + YIELDS_CROWDED &&
           watch_give_way(&mesh->spared, YIELDS_SPARED);
}

/* Wait a little: on n sockets, or (n 0) for memory, which cannot be slept on. Whoever
 * yields while others compute is served last, whoever sleeps on a socket is woken first:
 * so sockets are polled only for as long as a message may be on its way. */
static int rest(struct mesh *mesh, struct watch_idle *idle, struct pollfd *fds, nfds_t n)
{
    if (mesh->progress) {
        mesh->progress(mesh->progress_arg);
        n = 0;
    }
    if (n == 0)
        return watch_idle(&mesh->watch, idle);
    if (idle->polls++ < mesh->polls) {
        watch_relax();
        return 0;
    }
    if (give_way(mesh, idle))
        return 0;
    spin_less(mesh);
    return poll(fds, n, BLOCK_MS) == 0 || idle->polls % 64 == 0
               ? watch_check(&mesh->watch)
               : 0;
}

int mesh_rest(struct mesh *mesh, struct watch_idle *idle, const struct endpoint *in,
              const struct endpoint *out)
{
    nfds_t n = 0;

    if (in)
        mesh->fds[n++] = (struct pollfd){.fd = in->fd, .events = POLLIN};
    if (out)
        mesh->fds[n++] = (struct pollfd){.fd = out->out_fd, .events = POLLOUT};
    bool has_memory = (in && in->fd < 0) || (out && out->out_fd < 0);
    return rest(mesh, idle, mesh->fds, has_memory ? 0 : n);
}

/* Move what can be moved; of flows over one endpoint that stand side by side, the first
 * unfinished one. */
static int move_flows(struct mesh *mesh, struct flow *flows, size_t n, bool is_send,
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
            int status = is_send ? mesh_push(mesh, flow) : mesh_pull(mesh, flow);
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
static bool add_sockets(struct mesh *mesh, const struct flow *flows, size_t n,
                        short events, nfds_t *count)
{
    for (size_t i = 0; i < n; i++) {
        if (flows[i].done == flows[i].len)
            continue;
        const struct endpoint *endpoint = flows[i].endpoint;
        int fd = events == POLLIN ? endpoint->fd : endpoint->out_fd;
        if (fd < 0)
            return false;
        mesh->fds[(*count)++] = (struct pollfd){.fd = fd, .events = events};
    }
    return true;
}

int mesh_exchange(struct mesh *mesh, struct flow *sends, size_t n_sends,
                  struct flow *recvs, size_t n_recvs)
{
    struct watch_idle idle = {0};
    bool is_last = false;

    for (;;) {
        size_t to_send, to_recv;
        int sent = move_flows(mesh, sends, n_sends, true, &to_send);
        int received = sent < 0 ? -1 : move_flows(mesh, recvs, n_recvs, false, &to_recv);
        if (received < 0)
            return -1;
        if (to_send == 0 && to_recv == 0)
            return 0;
        if (sent || received) {
            idle = (struct watch_idle){0};
            continue;
        }
        nfds_t n = 0;
        if (!add_sockets(mesh, sends, n_sends, POLLOUT, &n) ||
            !add_sockets(mesh, recvs, n_recvs, POLLIN, &n))
            n = 0;
        /* What is missing may have come just before its sender left. */
        if (is_last)
            return -1;
        is_last = rest(mesh, &idle, mesh->fds, n) != 0;
    }
}

/* Dissemination: in step k each rank tells the one 2^k ahead. */
static int remote_barrier(struct mesh *mesh)
{
    int n = mesh->world_size;
    char token = 0, theirs;

    for (int step = 1; step < n; step *= 2) {
        struct endpoint *to = &mesh->endpoints[(mesh->rank + step) % n];
        struct endpoint *from = &mesh->endpoints[(mesh->rank + n - step) % n];
        struct flow send = {to, &token, 1, 0}, recv = {from, &theirs, 1, 0};
        if (mesh_exchange(mesh, &send, 1, &recv, 1))
            return -1;
    }
    return 0;
}

int mesh_barrier(struct mesh *mesh, struct error *err)
{
    int status = mesh->is_local ? shm_group_barrier(&mesh->group) : remote_barrier(mesh);

    return status ? watch_reason(&mesh->watch, err) : 0;
}

static int local_allgather(struct mesh *mesh, const char *mine, size_t len, char *all)
{
    struct shm_group *group = &mesh->group;

    for (size_t done = 0; done < len;) {
        size_t part = len - done < SHM_SLOT_BYTES ? len - done : SHM_SLOT_BYTES;
        memcpy(shm_group_slot_begin(group, part), mine + done, part);
        if (shm_group_slot_publish(group))
            return -1;
        for (int i = 0; i < group->n; i++) {
            memcpy(all + (size_t)group->peers[i].rank * len + done,
                   shm_group_slot(group, i), part);
        }
        done += part;
    }
    return 0;
}

static int ring_allgather(struct mesh *mesh, size_t len, char *all)
{
    int n = mesh->world_size, at = mesh->ring_at;
    struct endpoint *next = &mesh->endpoints[mesh->ring[(at + 1) % n]];
    struct endpoint *prev = &mesh->endpoints[mesh->ring[(at + n - 1) % n]];

    for (int step = 0; step < n - 1; step++) {
        int ours = mesh->ring[(at + n - step) % n];
        int theirs = mesh->ring[(at + n - step - 1) % n];
        struct flow send = {next, all + (size_t)ours * len, len, 0};
        struct flow recv = {prev, all + (size_t)theirs * len, len, 0};
        if (mesh_exchange(mesh, &send, 1, &recv, 1))
            return -1;
    }
    return 0;
}

int mesh_allgather(struct mesh *mesh, const void *mine, size_t len, void *all,
                   struct error *err)
{
    int status;

    if (mesh->is_local) {
        status = local_allgather(mesh, mine, len, all);
    } else {
        memmove((char *)all + (size_t)mesh->rank * len, mine, len);
        status = ring_allgather(mesh, len, all);
    }
    return status ? watch_reason(&mesh->watch, err) : 0;
}
