/* mesh_ways.c - what carries the bytes of collectives between the ranks of a mesh */
#include "agent/worker/group/mesh_ways.h"

#include <stdio.h>
#include <string.h>

#include "agent/worker/group/attempt.h"
#include "common/base/buf.h"

#define WAYS_MAX 64
#define RANKS_MAX_BYTES 262144 /* of a list of them */

static bool has_peer_by(const struct mesh *mesh, const char *name)
{
    bool has_it = false;

    for (int i = 0; i < mesh->world_size && !has_it; i++)
        has_it = i != mesh->rank && strcmp(mesh->data[i].transport->name, name) == 0;
    return has_it;
}

json_t *mesh_describe(const struct mesh *mesh)
{
    static const char *const names[] = {"shm", "tcp", "ucx"};
    char text[32] = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (has_peer_by(mesh, names[i]))
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
                     text[0] ? ", " : "", names[i]);
    return json_string(text[0] ? text : "self");
}

/* A way, and to whom so far; the last range of ranks is not written yet. */
struct told {
    json_t *way;
    struct buf to;
    int first, last;
};

static void put_range(struct told *told)
{
    const char *comma = told->to.len ? "," : "";

    if (told->first == told->last)
        buf_printf(&told->to, "%s%d", comma, told->first);
    else
        buf_printf(&told->to, "%s%d-%d", comma, told->first, told->last);
}

static void add(struct told *all, size_t *n, const json_t *way, int rank)
{
    size_t at = 0;

    while (at < *n && !json_equal(all[at].way, way))
        at++;
    if (at == WAYS_MAX)
        return;
    if (at == *n) {
        all[(*n)++] =
            (struct told){.way = json_deep_copy(way), .first = rank, .last = rank};
        buf_init(&all[at].to, RANKS_MAX_BYTES);
    } else if (all[at].last + 1 == rank) {
        all[at].last = rank;
    } else if (all[at].last != rank) {
        put_range(&all[at]);
        all[at].first = all[at].last = rank;
    }
}

json_t *mesh_ways(const struct mesh *mesh)
{
    struct told all[WAYS_MAX];
    struct attempt_found last = {.interface = ""};
    json_t *out = json_array();
    size_t n = 0;

    for (int i = 0; i < mesh->world_size; i++) {
        const struct endpoint *endpoint = &mesh->data[i];
        json_t *ways =
            i == mesh->rank ? NULL : endpoint->transport->ways(endpoint, &last);
        for (size_t k = 0; k < json_array_size(ways); k++)
            add(all, &n, json_array_get(ways, k), watch_name(&mesh->watch, i));
        json_decref(ways);
    }
    for (size_t i = 0; i < n; i++) {
        put_range(&all[i]);
        json_object_set_new(all[i].way, "to", json_string(all[i].to.data));
        json_array_append_new(out, all[i].way);
        buf_release(&all[i].to);
    }
    return out;
}
