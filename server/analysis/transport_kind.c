/* SPDX-License-Identifier: Apache-2.0 */
/* transport_kind.c - determines the kinds of networks and their names */
#include "server/analysis/transport_kind.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"

static const struct {
    const char *name, *text;
} kinds[] = {{"infiniband", "InfiniBand"},
             {"roce", "RoCE"},
             {"rdma", "RDMA"},
             {"ipoib", "IP over InfiniBand"},
             {"ethernet", "sockets over Ethernet"},
             {"sockets", "sockets over"},
             {"loopback", "sockets over loopback"},
             {"bridge", "sockets over a bridge"},
             {"virtual", "sockets over a virtual interface"},
             {"p2p", "peer to peer"},
             {"shm", "shared memory"},
             {"plugin", "plugin"},
             {"other", "other"}};

int transport_kind_place(const char *kind)
{
    int i = 0;

    while (strcmp(kinds[i].name, kind) != 0 && strcmp(kinds[i].name, "other") != 0)
        i++;
    return i;
}

const char *transport_kind_text(const char *kind)
{
    return kinds[transport_kind_place(kind)].text;
}

const char *transport_net_kind(const struct transport_node *node, const char *name)
{
    const json_t *net = json_find(json_object_get(node->inventory, "net"), "name", name);
    const char *kind = json_get_str(net, "kind", NULL);

    if (kind)
        return strcmp(kind, "infiniband") == 0 ? "ipoib" : kind;
    if (strcmp(name, "lo") == 0)
        return "loopback";
    /* IP over InfiniBand interfaces have this prefix by default. */
    return strncmp(name, "ib", 2) == 0 ? "ipoib" : "sockets";
}

const char *transport_rdma_kind(const struct transport_node *node, const json_t *way)
{
    const char *name = json_get_str(way, "name", ""), *link;
    const json_t *port =
        json_find(json_object_get(node->inventory, "rdma"), "name", name);

    link = json_get_str(way, "link", json_get_str(port, "link_layer", ""));
    if (strcmp(link, "IB") == 0 || strcmp(link, "infiniband") == 0)
        return "infiniband";
    return strcmp(link, "RoCE") == 0 || strcmp(link, "ethernet") == 0 ? "roce" : "rdma";
}

/* ---- The host backend ---- */

/* Return the kind of a UCX transport from the prefix of its name, or "other". */
static const char *ucx_kind(const struct transport_node *node, const json_t *way,
                            const char *transport)
{
    static const char *const rdma[] = {"rc_", "dc_", "ud_"};
    static const char *const memory[] = {"sysv", "posix", "xpmem", "cma", "knem"};

    if (strcmp(transport, "tcp") == 0)
        return transport_net_kind(node, json_get_str(way, "name", ""));
    for (size_t i = 0; i < sizeof(rdma) / sizeof(rdma[0]); i++)
        if (strncmp(transport, rdma[i], strlen(rdma[i])) == 0)
            return transport_rdma_kind(node, way);
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
        if (strcmp(transport, memory[i]) == 0)
            return "shm";
    return "other";
}

const char *transport_host_kind(const struct transport_node *node, const json_t *way)
{
    const char *via = json_get_str(way, "via", "");

    if (strcmp(via, "tcp") == 0)
        return transport_net_kind(node, json_get_str(way, "name", ""));
    if (strncmp(via, "ucx/", 4) == 0)
        return ucx_kind(node, way, via + 4);
    return strcmp(via, "shm") == 0 ? "shm" : strcmp(via, "ucx") == 0 ? "other" : NULL;
}

json_t *transport_host_text(const json_t *way)
{
    const char *via = json_get_str(way, "via", ""), *kind = json_get_str(way, "kind", "");
    const char *name = json_get_str(way, "name", ""), *what = transport_kind_text(kind);

    if (strcmp(via, "shm") == 0)
        return json_string(what);
    if (strcmp(via, "ucx") == 0)
        return json_string("UCX");
    if (strncmp(via, "ucx/", 4) == 0)
        return strcmp(kind, "shm") == 0
                   ? json_sprintf("%s, UCX %.60s", what, via + 4)
                   : json_sprintf("%s %.90s, UCX %.60s", what, name, via + 4);
    if (strcmp(via, "tcp") != 0)
        return NULL;
    return json_sprintf("%s %.90s, %ld per pair of ranks", what, name[0] ? name : "?",
                        (long)json_get_int(way, "sockets", 1));
}
