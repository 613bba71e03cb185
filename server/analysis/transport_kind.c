/* transport_kind.c - what a network is, and what that is called */
#include "server/analysis/transport_kind.h"

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
    /* As the kernel and udev call IP over InfiniBand. */
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
