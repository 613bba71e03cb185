/* mesh_join.c - how ranks find and connect to each other
 *
 * Each rank listens, publishes {"hostid","machine","address","port","pid","fd","token"}
 * under ringbench/rank/R, and reads everyone's. Those with its host identity share
 * memory. To every other rank of lower number it connects, from those of higher number it
 * accepts (door.h). */
#include "agent/worker/group/mesh_join.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/worker/group/hostid.h"
#include "common/base/json_util.h"

#define KEY_MAX 64

struct record {
    char hostid[HOSTID_MAX], machine[HOSTID_MAX];
    pid_t pid;
    int fd; /* of its shared segment */
    struct join_place place;
};

_Static_assert(SHM_TOKEN_BYTES == DOOR_TOKEN_BYTES, "one token is for both");

struct joining {
    struct mesh *mesh;
    const struct mesh_config *config;
    struct join join;
    int *fds;               /* by rank */
    struct record *records; /* by rank */
};

static void key_of(const struct joining *joining, int rank, char key[KEY_MAX])
{
    const char *scope = joining->config->scope;

    snprintf(key, KEY_MAX, "ringbench/%srank/%d", scope ? scope : "", rank);
}

static int publish(struct joining *joining, struct error *err)
{
    const struct mesh *mesh = joining->mesh;
    char hostid[HOSTID_MAX], machine[HOSTID_MAX], key[KEY_MAX];
    json_t *more = json_pack(
        "{s:s, s:s, s:i, s:i}", "hostid", hostid_text(joining->config->hostid, hostid),
        "machine", hostid_machine(machine), "pid", (int)getpid(), "fd", mesh->group.fd);

    if (!more)
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    key_of(joining, mesh->rank, key);
    return join_publish(&joining->join, key, shm_group_token(&mesh->group), more, err);
}

static int read_record(struct joining *joining, int rank, struct error *err)
{
    struct record *out = &joining->records[rank];
    char key[KEY_MAX];

    key_of(joining, rank, key);
    json_t *record = join_read(&joining->join, key, rank, &out->place, err);
    if (!record)
        return -1;
    out->pid = (pid_t)json_get_int(record, "pid", 0);
    out->fd = (int)json_get_int(record, "fd", -1);
    bool is_good =
        !join_copy_text(record, "hostid", out->hostid, sizeof(out->hostid)) &&
        !join_copy_text(record, "machine", out->machine, sizeof(out->machine)) &&
        out->pid > 0 && out->fd >= 0;
    json_decref(record);
    return is_good ? 0 : join_refuse_record(&joining->join, rank, err);
}

static bool is_same_host(const struct joining *joining, int rank)
{
    return strcmp(joining->records[rank].hostid,
                  joining->records[joining->mesh->rank].hostid) == 0;
}

static bool is_same_machine(const struct joining *joining, int rank)
{
    return strcmp(joining->records[rank].machine,
                  joining->records[joining->mesh->rank].machine) == 0;
}

static int join_group(struct joining *joining, struct error *err)
{
    struct mesh *mesh = joining->mesh;
    int n = 0, self = 0;
    /* Unsigned: gcc 14 would warn of a negative size, not knowing that there is none. */
    struct shm_peer *peers = calloc((unsigned)mesh->world_size, sizeof(*peers));

    if (!peers)
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    for (int rank = 0; rank < mesh->world_size; rank++) {
        const struct record *record = &joining->records[rank];
        mesh->group_of[rank] = -1;
        mesh->machine_ranks += is_same_machine(joining, rank);
        if (!is_same_host(joining, rank))
            continue;
        self = rank == mesh->rank ? n : self;
        mesh->group_of[rank] = n;
        peers[n].rank = rank;
        peers[n].pid = record->pid;
        peers[n].remote_fd = record->fd;
        memcpy(peers[n].token, record->place.token, SHM_TOKEN_BYTES);
        n++;
    }
    mesh->is_local = n == mesh->world_size;
    watch_set_sharers(&mesh->watch, mesh->machine_ranks);
    return shm_group_join(&mesh->group, peers, n, self, err);
}

/* The hosts in order of their first rank, each host's ranks one behind the other. */
static void order_ring(struct joining *joining)
{
    struct mesh *mesh = joining->mesh;
    int n = 0;

    for (int first = 0; first < mesh->world_size; first++) {
        const char *hostid = joining->records[first].hostid;
        bool is_first = true;
        for (int rank = 0; rank < first && is_first; rank++)
            is_first = strcmp(joining->records[rank].hostid, hostid) != 0;
        for (int rank = first; is_first && rank < mesh->world_size; rank++) {
            if (strcmp(joining->records[rank].hostid, hostid) == 0) {
                mesh->ring_at = rank == mesh->rank ? n : mesh->ring_at;
                mesh->ring[n++] = rank;
            }
        }
    }
    assert(n == mesh->world_size && mesh->ring[mesh->ring_at] == mesh->rank);
}

static int connect_remote(struct joining *joining, struct error *err)
{
    const struct mesh *mesh = joining->mesh;

    for (int rank = 0; rank < mesh->world_size; rank++) {
        if (mesh->group_of[rank] >= 0)
            continue;
        if (rank > mesh->rank)
            joining->fds[rank] = JOIN_AWAITED;
        else if (join_connect(&joining->join, rank, &joining->records[rank].place, err))
            return -1;
    }
    return join_admit(&joining->join, err);
}

static void connect_local(struct mesh *mesh)
{
    struct shm_group *group = &mesh->group;

    for (int i = 0; i < group->n; i++) {
        int rank = group->peers[i].rank;
        if (i != group->self) {
            endpoint_init_shm(&mesh->endpoints[rank], rank,
                              shm_group_queue(group, group->self, i),
                              shm_group_queue(group, i, group->self));
        }
    }
}

static int make_room(struct joining *joining, struct error *err)
{
    struct mesh *mesh = joining->mesh;
    size_t n = (size_t)mesh->world_size;

    mesh->data = mesh->endpoints = calloc(n, sizeof(*mesh->endpoints));
    mesh->fds = calloc(2 * n + 2, sizeof(*mesh->fds));
    mesh->group_of = calloc(n, sizeof(*mesh->group_of));
    mesh->ring = calloc(n, sizeof(*mesh->ring));
    joining->records = calloc(n, sizeof(*joining->records));
    joining->fds = calloc(n, sizeof(*joining->fds));
    return mesh->endpoints && mesh->fds && mesh->group_of && mesh->ring &&
                   joining->records && joining->fds
               ? 0
               : error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
}

static int connect_all(struct joining *joining, struct error *err)
{
    struct mesh *mesh = joining->mesh;

    if (publish(joining, err))
        return -1;
    for (int rank = 0; rank < mesh->world_size; rank++)
        if (read_record(joining, rank, err))
            return -1;
    if (join_group(joining, err))
        return -1;
    order_ring(joining);
    connect_local(mesh);
    return connect_remote(joining, err);
}

int mesh_join(struct mesh *mesh, const struct mesh_config *config, struct error *err)
{
    struct joining joining = {.mesh = mesh, .config = config};
    int status = make_room(&joining, err);

    if (!status) {
        join_begin(&joining.join, &config->join, &mesh->watch, joining.fds);
        status = connect_all(&joining, err);
        join_end(&joining.join);
        for (int rank = 0; rank < mesh->world_size; rank++) {
            if (joining.fds[rank] < 0)
                continue;
            if (is_same_machine(&joining, rank))
                endpoint_shorten_queue(joining.fds[rank]);
            endpoint_init_tcp(&mesh->endpoints[rank], rank, joining.fds[rank]);
            mesh->endpoints[rank].is_near = is_same_machine(&joining, rank);
        }
    }
    free(joining.fds);
    free(joining.records);
    return status;
}
