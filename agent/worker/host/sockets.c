/* sockets.c - several sockets per peer of another host */
#include "agent/worker/host/sockets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/worker/group/join.h"

#define MBITS_PER_SOCKET 25000
#define KEY_MAX 64

/* One direction of what goes to or comes from a peer. */
struct stripe {
    bool is_send;
    uint64_t at; /* bytes that have gone through */
    uint64_t bytes[HOST_SOCKETS_MAX];
};

struct peer {
    struct sockets *sockets;
    struct endpoint lanes[HOST_SOCKETS_MAX];
    struct stripe out, in;
};

struct sockets {
    struct mesh *mesh;
    int count;          /* per peer */
    struct peer *peers; /* by rank, as the endpoints */
    struct endpoint *endpoints;
};

/* ---- Moving ---- */

static int lane_of(const struct sockets *sockets, uint64_t at)
{
    return (int)(at / SOCKETS_CHUNK_BYTES % (uint64_t)sockets->count);
}

static size_t to_chunk_end(uint64_t at, size_t len)
{
    size_t left = SOCKETS_CHUNK_BYTES - (size_t)(at % SOCKETS_CHUNK_BYTES);

    return len < left ? len : left;
}

/* As far as it goes without waiting. */
static ssize_t move(struct peer *peer, struct stripe *stripe, char *data, size_t len)
{
    size_t done = 0, part, n = 0;

    do {
        int at = lane_of(peer->sockets, stripe->at);
        struct endpoint *lane = &peer->lanes[at];
        const struct transport *transport = lane->transport;
        part = to_chunk_end(stripe->at, len - done);
        ssize_t moved = stripe->is_send ? transport->send(lane, data + done, part)
                                        : transport->recv(lane, data + done, part);
        if (moved < 0)
            return -1;
        n = (size_t)moved;
        stripe->at += n;
        stripe->bytes[at] += n;
        done += n;
    } while (done < len && n == part);
    return (ssize_t)done;
}

/* The socket whose turn it is, to sleep on. */
static int fd_of(const struct peer *peer, const struct stripe *stripe)
{
    return peer->lanes[lane_of(peer->sockets, stripe->at)].fd;
}

static ssize_t sockets_send(struct endpoint *endpoint, const void *data, size_t len)
{
    struct peer *peer = endpoint->own;
    ssize_t n = move(peer, &peer->out, (char *)(uintptr_t)data, len);

    endpoint->out_fd = fd_of(peer, &peer->out);
    return n;
}

static ssize_t sockets_recv(struct endpoint *endpoint, void *data, size_t len)
{
    struct peer *peer = endpoint->own;
    ssize_t n = move(peer, &peer->in, data, len);

    endpoint->fd = fd_of(peer, &peer->in);
    return n;
}

static void sockets_close(struct endpoint *endpoint)
{
    (void)endpoint;
}

static json_t *sockets_ways(const struct endpoint *endpoint, struct attempt_found *last)
{
    const struct peer *peer = endpoint->own;

    return endpoint_tcp_ways(peer->lanes[0].fd, sockets_count(peer->sockets), last);
}

static const struct transport transport_sockets = {"tcp", sockets_send, sockets_recv,
                                                   sockets_close, sockets_ways};

/* ---- How many ---- */

int sockets_for_speed(long mbits)
{
    long n = mbits / MBITS_PER_SOCKET;

    return n < 1 ? 1 : n < HOST_SOCKETS_MAX ? (int)n : HOST_SOCKETS_MAX;
}

/* Of the interface that leads to the first remote peer, in Mb/s; 0: unknown. */
static long link_mbits(const struct mesh *mesh)
{
    char interface[ATTEMPT_INTERFACE_MAX] = "", path[64 + ATTEMPT_INTERFACE_MAX];
    long mbits = 0;

    for (int rank = 0; rank < mesh->world_size && !interface[0]; rank++)
        if (rank != mesh->rank && mesh->group_of[rank] < 0)
            attempt_interface(mesh->endpoints[rank].fd, interface);
    snprintf(path, sizeof(path), "/sys/class/net/%s/speed", interface);
    FILE *file = interface[0] ? fopen(path, "re") : NULL;
    if (file && fscanf(file, "%ld", &mbits) != 1)
        mbits = 0;
    if (file)
        fclose(file);
    return mbits;
}

/* The least number that any rank wants. */
static int agree(struct mesh *mesh, int want, int *least, struct error *err)
{
    int *all = calloc((size_t)mesh->world_size, sizeof(*all));
    int status = all ? mesh_allgather(mesh, &want, sizeof(want), all, err)
                     : error_set(err, ERROR_MEMORY, "sockets: out of memory");

    *least = want;
    for (int rank = 0; !status && rank < mesh->world_size; rank++)
        *least = all[rank] < *least ? all[rank] : *least;
    free(all);
    return status;
}

/* ---- Beginning and end ---- */

struct lane_join {
    const struct mesh_config *config;
    struct sockets *sockets;
    struct join join;
    int at;
    int *fds; /* by rank */
};

static void key_of(const struct lane_join *lane, int rank, char key[KEY_MAX])
{
    const char *scope = lane->config->scope;

    snprintf(key, KEY_MAX, "ringbench/%ssocket/%d/rank/%d", scope ? scope : "", lane->at,
             rank);
}

/* As the mesh does for the first socket. */
static int join_peers(struct lane_join *lane, struct error *err)
{
    const struct mesh *mesh = lane->sockets->mesh;
    unsigned char token[DOOR_TOKEN_BYTES];
    char key[KEY_MAX];

    if (getrandom(token, sizeof(token), 0) != (ssize_t)sizeof(token))
        return error_set_errno(err, ERROR_IO, errno, "getrandom");
    key_of(lane, mesh->rank, key);
    if (join_publish(&lane->join, key, token, NULL, err))
        return -1;
    for (int rank = 0; rank < mesh->world_size; rank++) {
        struct join_place place;
        if (rank == mesh->rank || mesh->group_of[rank] >= 0)
            continue;
        if (rank > mesh->rank) {
            lane->fds[rank] = JOIN_AWAITED;
            continue;
        }
        key_of(lane, rank, key);
        json_t *record = join_read(&lane->join, key, rank, &place, err);
        json_decref(record);
        if (!record || join_connect(&lane->join, rank, &place, err))
            return -1;
    }
    return join_admit(&lane->join, err);
}

static int add_lane(struct sockets *sockets, const struct mesh_config *config, int at,
                    struct error *err)
{
    struct mesh *mesh = sockets->mesh;
    struct lane_join lane = {.config = config, .sockets = sockets, .at = at};
    struct watch watch;

    if (watch_init(&watch, mesh->world_size, config->join.stop, err))
        return -1;
    watch.also = &mesh->watch;
    watch.names = mesh->watch.names;
    lane.fds = calloc((size_t)mesh->world_size, sizeof(*lane.fds));
    int status =
        lane.fds ? 0 : error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    if (lane.fds) {
        join_begin(&lane.join, &config->join, &watch, lane.fds);
        status = join_peers(&lane, err);
        join_end(&lane.join);
        for (int rank = 0; rank < mesh->world_size; rank++) {
            if (lane.fds[rank] < 0)
                continue;
            if (mesh->endpoints[rank].is_near)
                endpoint_shorten_queue(lane.fds[rank]);
            endpoint_init_tcp(&sockets->peers[rank].lanes[at], rank, lane.fds[rank]);
        }
        free(lane.fds);
    }
    watch_release(&watch);
    return status;
}

static int make_room(struct sockets *sockets, struct error *err)
{
    struct mesh *mesh = sockets->mesh;
    size_t n = (size_t)mesh->world_size;

    sockets->peers = calloc(n, sizeof(*sockets->peers));
    sockets->endpoints = calloc(n, sizeof(*sockets->endpoints));
    if (!sockets->peers || !sockets->endpoints)
        return error_set(err, ERROR_MEMORY, "sockets: out of memory");
    memcpy(sockets->endpoints, mesh->endpoints, n * sizeof(*mesh->endpoints));
    for (int rank = 0; rank < mesh->world_size; rank++) {
        struct peer *peer = &sockets->peers[rank];
        if (rank == mesh->rank || mesh->group_of[rank] >= 0)
            continue;
        peer->sockets = sockets;
        peer->out.is_send = true;
        peer->lanes[0] = mesh->endpoints[rank];
        sockets->endpoints[rank].transport = &transport_sockets;
        sockets->endpoints[rank].own = peer;
        sockets->endpoints[rank].fd = fd_of(peer, &peer->in);
        sockets->endpoints[rank].out_fd = fd_of(peer, &peer->out);
    }
    return 0;
}

static int open_all(struct sockets *sockets, const struct mesh_config *config,
                    struct error *err)
{
    if (make_room(sockets, err))
        return -1;
    for (int at = 1; at < sockets->count; at++)
        if (add_lane(sockets, config, at, err))
            return -1;
    return 0;
}

int sockets_connect(struct mesh *mesh, const struct mesh_config *config,
                    const struct host_options *asked, struct sockets **out,
                    struct error *err)
{
    int want = asked->sockets ? (int)asked->sockets : sockets_for_speed(link_mbits(mesh));
    int sockets_per_peer;

    *out = NULL;
    if (mesh->is_local)
        return 0;
    if (agree(mesh, want, &sockets_per_peer, err))
        return -1;
    if (sockets_per_peer == 1)
        return 0;
    struct sockets *sockets = calloc(1, sizeof(*sockets));
    if (!sockets)
        return error_set(err, ERROR_MEMORY, "sockets: out of memory");
    sockets->mesh = mesh;
    sockets->count = sockets_per_peer;
    if (open_all(sockets, config, err)) {
        sockets_destroy(sockets);
        return -1;
    }
    mesh->data = sockets->endpoints;
    *out = sockets;
    return 0;
}

void sockets_destroy(struct sockets *sockets)
{
    if (!sockets)
        return;
    sockets->mesh->data = sockets->mesh->endpoints;
    for (int rank = 0; sockets->peers && rank < sockets->mesh->world_size; rank++)
        for (int at = 1; at < sockets->count; at++)
            endpoint_close(&sockets->peers[rank].lanes[at]);
    free(sockets->peers);
    free(sockets->endpoints);
    free(sockets);
}

int sockets_count(const struct sockets *sockets)
{
    return sockets ? sockets->count : 1;
}

uint64_t sockets_bytes(const struct sockets *sockets, int rank, int at, bool is_send)
{
    const struct peer *peer = &sockets->peers[rank];

    return is_send ? peer->out.bytes[at] : peer->in.bytes[at];
}
