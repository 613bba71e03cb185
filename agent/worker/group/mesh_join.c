/* mesh_join.c - how ranks find and connect to each other
 *
 * Each rank listens, publishes {"hostid","machine","address","port","pid","fd","token"}
 * under ringbench/rank/R, and reads everyone's. Those with its host identity share
 * memory. To every other rank of lower number it connects, from those of higher number it
 * accepts (door.h). */
#include "agent/worker/group/mesh_join.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/worker/group/door.h"
#include "agent/worker/group/hostid.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"

#define KEY_MAX 64
#define RECORD_MAX 4096
#define SLICE_MS 20

struct record {
    char hostid[HOSTID_MAX], machine[HOSTID_MAX], address[256], port[8];
    pid_t pid;
    int fd;
    unsigned char token[SHM_TOKEN_BYTES]; /* of its shared segment, and of its door */
};

_Static_assert(SHM_TOKEN_BYTES == DOOR_TOKEN_BYTES, "one token is for both");

struct join {
    struct mesh *mesh;
    const struct mesh_config *config;
    int64_t deadline_ns;
    struct door door;
    struct record *records; /* by rank */
};

/* As many descriptors as the system lets us have: one connection per rank. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int resolve(const char *host, const char *port, struct addrinfo **list,
                   struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    int status = getaddrinfo(host, port, &hints, list);

    if (status)
        return error_set(err, ERROR_IO, "address %s: %s", host, gai_strerror(status));
    return 0;
}

static void key_of(const struct join *join, int rank, char key[KEY_MAX])
{
    const char *scope = join->config->scope;

    snprintf(key, KEY_MAX, "ringbench/%srank/%d", scope ? scope : "", rank);
}

static int name_of(const struct join *join, int rank)
{
    return watch_name(&join->mesh->watch, rank);
}

static int publish(struct join *join, struct error *err)
{
    const struct mesh *mesh = join->mesh;
    const char *host = join->config->address;
    const unsigned char *own = shm_group_token(&mesh->group);
    char hostid[HOSTID_MAX], machine[HOSTID_MAX], port[8], token[DOOR_TOKEN_TEXT];
    char key[KEY_MAX];
    int number;

    host = host && host[0] ? host : "127.0.0.1";
    if (door_open(&join->door, host, own, &number, err))
        return -1;
    snprintf(port, sizeof(port), "%d", number);
    door_format_token(own, token);
    json_t *record =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:s}", "hostid",
                  hostid_text(join->config->hostid, hostid), "machine",
                  hostid_machine(machine), "address", host, "port", port, "pid",
                  (int)getpid(), "fd", mesh->group.fd, "token", token);
    char *text = record ? json_text(record) : NULL;
    json_decref(record);
    if (!text)
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    key_of(join, mesh->rank, key);
    int status = store_client_set(join->config->store, key, text, strlen(text), err);
    free(text);
    return status;
}

static int copy_text(const json_t *record, const char *key, char *out, size_t size)
{
    const char *text = json_get_str(record, key, "");
    int len = snprintf(out, size, "%s", text);

    return text[0] && (size_t)len < size ? 0 : -1;
}

static int parse_record(const char *text, size_t len, struct record *out,
                        struct error *err)
{
    json_t *record = json_parse(text, len, err);

    if (!record)
        return -1;
    const char *token = json_get_str(record, "token", "");
    out->pid = (pid_t)json_get_int(record, "pid", 0);
    out->fd = (int)json_get_int(record, "fd", -1);
    int failed = copy_text(record, "hostid", out->hostid, sizeof(out->hostid)) ||
                 copy_text(record, "machine", out->machine, sizeof(out->machine)) ||
                 copy_text(record, "address", out->address, sizeof(out->address)) ||
                 copy_text(record, "port", out->port, sizeof(out->port)) ||
                 door_parse_token(token, out->token) || out->pid <= 0 || out->fd < 0;
    json_decref(record);
    return failed ? error_set(err, ERROR_PEER, "its record in the store is malformed")
                  : 0;
}

static int64_t left_ms(const struct join *join)
{
    int64_t left = (join->deadline_ns - clock_monotonic_ns()) / 1000000;
    return left > 0 ? left : 0;
}

static int read_record(struct join *join, int rank, struct error *err)
{
    char key[KEY_MAX];
    const char *keys[1] = {key};
    struct buf text;

    key_of(join, rank, key);
    if (store_client_wait(join->config->store, keys, 1, left_ms(join), err))
        return error_prefix(err, "waiting for rank %d", name_of(join, rank));
    buf_init(&text, RECORD_MAX);
    int status = store_client_get(join->config->store, key, &text, err);
    if (!status) {
        status =
            parse_record(text.data ? text.data : "", text.len, &join->records[rank], err);
    }
    buf_release(&text);
    return status ? error_prefix(err, "rank %d", name_of(join, rank)) : 0;
}

static bool is_same_host(const struct join *join, int rank)
{
    return strcmp(join->records[rank].hostid, join->records[join->mesh->rank].hostid) ==
           0;
}

static int join_group(struct join *join, struct error *err)
{
    struct mesh *mesh = join->mesh;
    int n = 0, self = 0;
    /* Unsigned: gcc 14 would warn of a negative size, not knowing that there is none. */
    struct shm_peer *peers = calloc((unsigned)mesh->world_size, sizeof(*peers));

    if (!peers)
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    for (int rank = 0; rank < mesh->world_size; rank++) {
        const struct record *record = &join->records[rank];
        mesh->group_of[rank] = -1;
        mesh->machine_ranks +=
            strcmp(record->machine, join->records[mesh->rank].machine) == 0;
        if (!is_same_host(join, rank))
            continue;
        self = rank == mesh->rank ? n : self;
        mesh->group_of[rank] = n;
        peers[n].rank = rank;
        peers[n].pid = record->pid;
        peers[n].remote_fd = record->fd;
        memcpy(peers[n].token, record->token, sizeof(record->token));
        n++;
    }
    mesh->is_local = n == mesh->world_size;
    watch_set_sharers(&mesh->watch, mesh->machine_ranks);
    return shm_group_join(&mesh->group, peers, n, self, err);
}

/* The hosts in order of their first rank, each host's ranks one behind the other. */
static void order_ring(struct join *join)
{
    struct mesh *mesh = join->mesh;
    int n = 0;

    for (int first = 0; first < mesh->world_size; first++) {
        const char *hostid = join->records[first].hostid;
        bool is_first = true;
        for (int rank = 0; rank < first && is_first; rank++)
            is_first = strcmp(join->records[rank].hostid, hostid) != 0;
        for (int rank = first; is_first && rank < mesh->world_size; rank++) {
            if (strcmp(join->records[rank].hostid, hostid) == 0) {
                mesh->ring_at = rank == mesh->rank ? n : mesh->ring_at;
                mesh->ring[n++] = rank;
            }
        }
    }
}

/* Wait for events on fd, heeding stop and deadline. */
static int await_fd(struct join *join, int fd, short events, struct error *err)
{
    for (;;) {
        struct pollfd pollfd = {.fd = fd, .events = events};
        if (poll(&pollfd, 1, SLICE_MS) > 0)
            return 0;
        if (watch_check(&join->mesh->watch)) {
            if (err)
                *err = join->mesh->watch.error;
            return -1;
        }
        if (left_ms(join) == 0)
            return error_set(err, ERROR_TIMEOUT, "no connection in time");
    }
}

static int adopt(struct join *join, int rank, int fd, struct error *err)
{
    link_tune_socket(fd);
    link_init_tcp(&join->mesh->links[rank], rank, fd);
    return watch_add_socket(&join->mesh->watch, rank, fd, err);
}

static int open_connection(struct join *join, const struct record *record, int *out,
                           struct error *err)
{
    struct addrinfo *list;
    int failure = 0;
    socklen_t len = sizeof(failure);

    if (resolve(record->address, record->port, &list, err))
        return -1;
    int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || (connect(fd, list->ai_addr, list->ai_addrlen) && errno != EINPROGRESS))
        failure = errno;
    freeaddrinfo(list);
    if (!failure && await_fd(join, fd, POLLOUT, err)) {
        close(fd);
        return -1;
    }
    if (!failure)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len);
    if (failure) {
        if (fd >= 0)
            close(fd);
        return error_set_errno(err, ERROR_PEER, failure, "connecting to %s port %s",
                               record->address, record->port);
    }
    *out = fd;
    return 0;
}

static int connect_to(struct join *join, int rank, struct error *err)
{
    const struct record *record = &join->records[rank];
    int fd = -1;

    if (open_connection(join, record, &fd, err))
        return error_prefix(err, "rank %d", name_of(join, rank));
    if (door_greet(fd, record->token, join->mesh->rank, err)) {
        close(fd);
        return error_prefix(err, "rank %d", name_of(join, rank));
    }
    return adopt(join, rank, fd, err);
}

/* 0: one more is connected, or nobody yet. */
static int accept_one(struct join *join, int *connected, struct error *err)
{
    struct mesh *mesh = join->mesh;
    uint32_t rank;
    int fd, status;

    if (watch_check(&mesh->watch)) {
        *err = mesh->watch.error;
        return -1;
    }
    if (left_ms(join) == 0)
        return error_set(err, ERROR_TIMEOUT, "no connection in time");
    status = door_admit(&join->door, SLICE_MS, -1, &rank, &fd, err);
    if (status <= 0)
        return status;
    if (rank >= (uint32_t)mesh->world_size || (int)rank <= mesh->rank ||
        mesh->links[rank].transport) {
        door_refuse(&join->door, fd);
        return 0;
    }
    ++*connected;
    return adopt(join, (int)rank, fd, err);
}

static int connect_remote(struct join *join, struct error *err)
{
    struct mesh *mesh = join->mesh;
    int expected = 0, connected = 0;

    for (int rank = 0; rank < mesh->world_size; rank++) {
        if (mesh->group_of[rank] >= 0)
            continue;
        if (rank < mesh->rank && connect_to(join, rank, err))
            return -1;
        expected += rank > mesh->rank;
    }
    while (connected < expected) {
        if (accept_one(join, &connected, err)) {
            return error_prefix(err, "%d of %d ranks have connected", connected,
                                expected);
        }
    }
    return 0;
}

static void connect_local(struct mesh *mesh)
{
    struct shm_group *group = &mesh->group;

    for (int i = 0; i < group->n; i++) {
        int rank = group->peers[i].rank;
        if (i != group->self) {
            link_init_shm(&mesh->links[rank], rank,
                          shm_group_queue(group, group->self, i),
                          shm_group_queue(group, i, group->self));
        }
    }
}

static int run_join(struct join *join, struct error *err)
{
    struct mesh *mesh = join->mesh;
    size_t n = (size_t)mesh->world_size;

    mesh->links = calloc(n, sizeof(*mesh->links));
    mesh->fds = calloc(2 * n + 2, sizeof(*mesh->fds));
    mesh->group_of = calloc(n, sizeof(*mesh->group_of));
    mesh->ring = calloc(n, sizeof(*mesh->ring));
    join->records = calloc(n, sizeof(*join->records));
    if (!mesh->links || !mesh->fds || !mesh->group_of || !mesh->ring || !join->records)
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    if (publish(join, err))
        return -1;
    for (int rank = 0; rank < mesh->world_size; rank++)
        if (read_record(join, rank, err))
            return -1;
    if (join_group(join, err))
        return -1;
    order_ring(join);
    connect_local(mesh);
    return connect_remote(join, err);
}

int mesh_join(struct mesh *mesh, const struct mesh_config *config, struct error *err)
{
    struct join join = {.mesh = mesh, .config = config};

    join.deadline_ns = clock_monotonic_ns() + config->timeout_ms * 1000000;
    raise_descriptor_limit();
    int status = run_join(&join, err);
    door_close(&join.door);
    free(join.records);
    return status;
}
