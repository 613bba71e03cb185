/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_network.c - checks a node's RDMA ports, GIDs and interfaces. NCCL's user
 * guide, "Environment Variables", describes how NCCL uses them. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/nccl_ifname.h"
#include "server/analysis/nccl_hca.h"
#include "server/analysis/node_setting.h"
#include "server/analysis/preflight_look.h"
#include "server/finding/template.h"

#define ADDRESSES_MAX 256

/* ---- RDMA ---- */

static const char *layer_of(const json_t *port)
{
    return json_get_str(port, "link_layer", "RDMA");
}

/* Return true if most of the node's ports with this board and link layer are active. Then
 * all such ports should be active, regardless of other nodes. */
static bool is_board_used(const json_t *ports, const char *board, const char *layer)
{
    size_t n = 0, n_active = 0;

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);

        if (!is(port, "board", board) || strcmp(layer_of(port), layer) != 0 ||
            json_object_get(port, "physfn"))
            continue;
        n++;
        n_active += is(port, "state", "active");
    }
    return 2 * n_active > n;
}

/* Collect the states of the node's RDMA ports. If most ports of a board and link layer
 * are active on the node, a port is compared with these. Otherwise it is compared with
 * the same port on other nodes, because a card of another kind may be unused. */
void preflight_gather_ports(const struct preflight_node *node,
                            struct preflight_facts *facts)
{
    const json_t *ports = member(node, "rdma");
    const char *hca = node_setting(node->inventory, NULL, "NCCL_IB_HCA", NULL);
    char of_board[128], of_port[128];

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);
        const char *name = name_of(port), *state = json_get_str(port, "state", "");
        const char *layer = layer_of(port), *board = json_get_str(port, "board", "");
        int number = (int)json_get_int(port, "port", 1);
        bool is_used;

        /* Skip virtual functions (SR-IOV), which are down while unused. */
        if (json_object_get(port, "physfn") ||
            !nccl_hca_allows(hca ? hca : "", name, number))
            continue;
        is_used = is_board_used(ports, board, layer);
        snprintf(of_board, sizeof(of_board), "the state of %.20s ports%s%.20s", layer,
                 *board ? " of " : "", board);
        if (facts->is_alone || is_used)
            add_fact_of_port(facts, of_board, state, name, number);
        if (facts->is_alone || (is_used && strcmp(state, "active") != 0))
            continue;
        snprintf(of_port, sizeof(of_port), "the state of %.20s port %d of %.40s", layer,
                 number, name);
        add_fact_of_port(facts, of_port, state, name, number);
    }
}

/* Return true if the run's NCCL_IB_HCA allows the port. */
bool preflight_is_port_wanted(const json_t *env, const char *device, int port)
{
    return nccl_hca_allows(json_get_str(env, "NCCL_IB_HCA", ""), device, port);
}

/* Return true if the port is an active RoCE port. */
static bool is_roce(const json_t *port)
{
    return is(port, "link_layer", "ethernet") && is(port, "state", "active") &&
           json_is_array(json_object_get(port, "gids"));
}

/* Return the first RoCE v2 GID with a routable address, or NULL. */
static const json_t *gid_of(const json_t *port)
{
    const json_t *gids = json_object_get(port, "gids");

    for (size_t i = 0; i < json_array_size(gids); i++) {
        const json_t *gid = json_array_get(gids, i);

        if (is(gid, "type", "RoCE v2") &&
            strncmp(json_get_str(gid, "address", ""), "fe80", 4) != 0)
            return gid;
    }
    return NULL;
}

void preflight_look_at_gids(const struct preflight_node *node,
                            const struct preflight_use *use,
                            struct preflight_result *result)
{
    const json_t *ports = member(node, "rdma");

    (void)use;
    if (json_is_array(ports))
        snprintf(result->sentence, sizeof(result->sentence),
                 "the node has no active RoCE port");
    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);

        if (!is_roce(port))
            continue;
        pass(result);
        if (!gid_of(port))
            find(result, json_get_str(port, "netdev", "NETDEV"),
                 "%.60s has no RoCE v2 GID for an IP address: its interface %.40s has "
                 "none",
                 name_of(port), json_get_str(port, "netdev", "is not known, it"));
    }
}

void preflight_gather_gids(const struct preflight_node *node,
                           struct preflight_facts *facts)
{
    const json_t *ports = member(node, "rdma");

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);
        const json_t *gid = is_roce(port) ? gid_of(port) : NULL;
        char index[24];

        if (!gid)
            continue;
        snprintf(index, sizeof(index), "%d", (int)json_get_int(gid, "index", 0));
        add_fact(facts, "the index of the RoCE v2 GID", index, name_of(port));
    }
}

/* ---- Interfaces ---- */

static void gather_mtu_of(const json_t *interface, const char *what,
                          struct preflight_facts *facts)
{
    int64_t mtu = json_get_int(interface, "mtu", 0);
    char text[24];

    if (mtu <= 0)
        return;
    snprintf(text, sizeof(text), "%lld", (long long)mtu);
    add_fact(facts, what, text, json_get_str(interface, "name", ""));
}

/* Compare the MTUs of RDMA ports with each other. Compare other interfaces by name. */
void preflight_gather_mtus(const struct preflight_node *node,
                           struct preflight_facts *facts)
{
    const json_t *ports = member(node, "rdma"), *list = member(node, "net");
    char what[64];

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);
        const char *netdev = json_get_str(port, "netdev", "");

        if (!is(port, "state", "active"))
            continue;
        snprintf(what, sizeof(what), "the MTU of %.20s ports", layer_of(port));
        gather_mtu_of(json_find(list, "name", netdev), what, facts);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);

        if (!is(one, "state", "up") || !is(one, "kind", "ethernet") ||
            json_find(ports, "netdev", name_of(one)))
            continue;
        snprintf(what, sizeof(what), "the MTU of %.40s", name_of(one));
        gather_mtu_of(one, what, facts);
    }
}

/* Return true if other nodes reach the node at this address. */
static bool is_reached(const struct preflight_node *node, const json_t *address)
{
    return node->address && is(address, "address", node->address);
}

/* Return true if an interface certainly does not lead to other nodes. Docker's bridges
 * have names with 12 hexadecimal digits. Other bridges, teams, tunnels and switches may
 * lead to other nodes. */
static bool is_local(const struct preflight_node *node, const json_t *address)
{
    static const char *const prefixes[] = {"docker", "virbr", "veth"};
    const char *name = json_get_str(address, "interface", "");

    if (is_reached(node, address))
        return false;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return strcmp(name, "lo") == 0 ||
           (strncmp(name, "br-", 3) == 0 && strspn(name + 3, "0123456789abcdef") == 12);
}

/* Return the interface at which other nodes reach the node, or else the first interface
 * that may lead to other nodes. */
static const char *outside_interface(const struct preflight_node *node)
{
    const json_t *addresses = member(node, "addresses");
    const char *outside = NULL;

    for (size_t i = 0; i < json_array_size(addresses); i++) {
        const json_t *address = json_array_get(addresses, i);
        const char *name = json_get_str(address, "interface", NULL);

        if (is_reached(node, address))
            return name;
        if (!outside && !is_local(node, address))
            outside = name;
    }
    return outside;
}

/* Return NCCL's version as a number: 22809 is 2.28.9. INT_MAX: not known. */
static int nccl_version(const struct preflight_node *node)
{
    const json_t *nccl = template_find(node->inventory, "backends.nccl.nccl_version");
    int major, minor;

    return json_is_string(nccl) &&
                   sscanf(json_string_value(nccl), "%d.%d", &major, &minor) == 2
               ? 10000 * major + 100 * minor
               : INT_MAX;
}

/* Return the address that NCCL uses, or NULL. */
static const json_t *address_taken(const struct preflight_node *node, const char *asked,
                                   const char *family)
{
    const json_t *addresses = member(node, "addresses");
    const char *names[ADDRESSES_MAX];
    int n = 0;

    for (; n < (int)json_array_size(addresses) && n < ADDRESSES_MAX; n++) {
        const json_t *one = json_array_get(addresses, (size_t)n);

        names[n] = nccl_ifname_has_family(json_get_str(one, "address", ""), family)
                       ? json_get_str(one, "interface", NULL)
                       : NULL;
    }
    n = nccl_ifname_choose(names, n, asked, nccl_version(node));
    return n < 0 ? NULL : json_array_get(addresses, (size_t)n);
}

void preflight_look_at_choice(const struct preflight_node *node,
                              const struct preflight_use *use,
                              struct preflight_result *result)
{
    const char *where = "", *outside = outside_interface(node);
    const char *asked =
        node_setting(node->inventory, use->env, "NCCL_SOCKET_IFNAME", &where);
    const char *family =
        node_setting(node->inventory, use->env, "NCCL_SOCKET_FAMILY", NULL);
    const json_t *taken = address_taken(node, asked, family);

    if (!json_is_array(member(node, "addresses")))
        return;
    pass(result);
    if (asked && *asked && !taken)
        find(result, outside ? outside : "NAME",
             "NCCL_SOCKET_IFNAME=%.80s%s names no interface with an address", asked,
             where);
    else if (taken && outside && is_local(node, taken))
        find(result, outside,
             "NCCL uses %.40s for its sockets, but this interface does not lead to other "
             "nodes",
             json_get_str(taken, "interface", "?"));
}
