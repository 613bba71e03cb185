/* SPDX-License-Identifier: Apache-2.0 */
/* links_ways.c - the host backend's data connections: describe transports and devices */
#include <stdio.h>
#include <string.h>

#include "agent/worker/host/links.h"
#include "common/base/buf.h"

#define WAYS_MAX 64
#define RANKS_MAX_BYTES 262144 /* maximum length of the text of a rank list */

/* Ranks without a connection will use TCP. */
static const char *transport_to(const struct links *links, int rank)
{
    const struct transport *transport = links->endpoints[rank].transport;

    return transport ? transport->name : "tcp";
}

static bool has_peer_by(const struct links *links, const char *name)
{
    bool has_it = false;

    for (int i = 0; i < links->world_size && !has_it; i++)
        has_it = i != links->rank && strcmp(transport_to(links, i), name) == 0;
    return has_it;
}

json_t *links_describe(const struct links *links)
{
    static const char *const names[] = {"shm", "tcp", "ucx"};
    char text[32] = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (has_peer_by(links, names[i]))
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
                     text[0] ? ", " : "", names[i]);
    return json_string(text[0] ? text : "self");
}

/* A transport and device, with the list of ranks that they lead to. */
struct way_ranks {
    json_t *way;
    struct buf to;
    int first, last; /* first and last rank of the range that is not yet in `to` */
};

static void put_range(struct way_ranks *ranks)
{
    const char *comma = ranks->to.len ? "," : "";

    if (ranks->first == ranks->last)
        buf_printf(&ranks->to, "%s%d", comma, ranks->first);
    else
        buf_printf(&ranks->to, "%s%d-%d", comma, ranks->first, ranks->last);
}

static void add(struct way_ranks *all, size_t *n, const json_t *way, int rank)
{
    size_t at = 0;

    while (at < *n && !json_equal(all[at].way, way))
        at++;
    if (at == WAYS_MAX)
        return;
    if (at == *n) {
        all[(*n)++] =
            (struct way_ranks){.way = json_deep_copy(way), .first = rank, .last = rank};
        buf_init(&all[at].to, RANKS_MAX_BYTES);
    } else if (all[at].last + 1 == rank) {
        all[at].last = rank;
    } else if (all[at].last != rank) {
        put_range(&all[at]);
        all[at].first = all[at].last = rank;
    }
}

static json_t *tcp_ways(const struct links *links, int rank, struct attempt_found *last)
{
    const struct link_place *at = &links->places[rank];
    struct attempt_place place = {at->address, at->port, at->interface};
    const char *name = attempt_route(&place, last);
    json_t *way = json_pack("{s:s, s:i}", "via", "tcp", "sockets", links->sockets);

    if (name[0])
        json_object_set_new(way, "name", json_string(name));
    return json_pack("[o]", way);
}

json_t *links_ways(const struct links *links)
{
    struct way_ranks all[WAYS_MAX];
    struct attempt_found last = {.interface = ""};
    json_t *out = json_array();
    size_t n = 0;

    for (int i = 0; i < links->world_size; i++) {
        const struct endpoint *endpoint = &links->endpoints[i];
        json_t *ways = i == links->rank ? NULL
                       : endpoint->transport && endpoint->transport->ways
                           ? endpoint->transport->ways(endpoint)
                           : tcp_ways(links, i, &last);
        for (size_t k = 0; k < json_array_size(ways); k++)
            add(all, &n, json_array_get(ways, k), links_name(links, i));
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
