/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling.c - computes the bus bandwidth that the links between and within a run's nodes
 * allow */
#include "server/analysis/ceiling.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/collective.h"
#include "server/analysis/node_setting.h"
#include "server/finding/finding.h"

#define TEXT_MAX 160
/* Efficiency of the line code at 8 GT/s and above: PCI Express 3.0 and later */
#define PCIE_CODE (128.0 / 130.0)

/* Bandwidth of a link in one direction. If gbs is 0, the bandwidth is unknown and `text`
 * gives the reason. */
struct link_term {
    double gbs;
    char text[TEXT_MAX];
};

static struct link_term known(double gbs, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct link_term known(double gbs, const char *format, ...)
{
    struct link_term term = {.gbs = gbs};
    va_list args;

    va_start(args, format);
    vsnprintf(term.text, sizeof(term.text), format, args);
    va_end(args);
    return term;
}

#define unknown(...) known(0, __VA_ARGS__)

/* ---- Between nodes ---- */

static bool is_alike(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"rate_gbps", "link_layer", "state"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return true;
}

/* Return true if a port is a virtual function (SR-IOV) on a physical link that another
 * port in the list already represents. */
static bool is_again(const json_t *ports, size_t at)
{
    const json_t *port = json_array_get(ports, at);
    const char *own = json_get_str(port, "physfn", NULL);

    for (size_t i = 0; own && i < json_array_size(ports); i++) {
        const json_t *other = json_array_get(ports, i);
        const char *virtual = json_get_str(other, "physfn", NULL);
        const char *wire = virtual ? virtual : json_get_str(other, "pci", "");

        if ((i < at || !virtual) && strcmp(wire, own) == 0 && is_alike(other, port) &&
            json_equal(json_object_get(other, "port"), json_object_get(port, "port")))
            return true;
    }
    return false;
}

/* Return the number of physical links whose ports are like this port. */
static size_t count_alike(const json_t *ports, const json_t *like)
{
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(ports); i++)
        n += is_alike(json_array_get(ports, i), like) && !is_again(ports, i);
    return n;
}

/* Return the bandwidth of the group of equal ports with the highest total rate. Other
 * ports are assumed to serve storage or management. */
static struct link_term ports_of(const json_t *inventory)
{
    const json_t *ports = json_object_get(inventory, "rdma");
    struct link_term best = unknown("a node has no active RDMA port");

    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i);
        double rate = json_get_num(port, "rate_gbps", 0);
        size_t n = count_alike(ports, port);

        if (strcmp(json_get_str(port, "state", ""), "active") == 0 &&
            rate * (double)n / 8 > best.gbs)
            best = known(rate * (double)n / 8, "%zu x %g Gb/s NIC", n, rate);
    }
    return best;
}

static bool has_address(const json_t *interface, const char *address)
{
    const json_t *list = json_object_get(interface, "addresses");

    for (size_t i = 0; address && i < json_array_size(list); i++) {
        const char *one = json_string_value(json_array_get(list, i));

        if (one && strcmp(one, address) == 0)
            return true;
    }
    return false;
}

static struct link_term interface_of(const struct ceiling_node *node)
{
    const json_t *list = json_object_get(node->inventory, "net");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        double gbps = json_get_num(one, "speed_mbps", 0) / 1e3;
        const char *name = json_get_str(one, "name", "?");

        if (!has_address(one, node->address))
            continue;
        /* Virtual interfaces report invented speeds. */
        if (strcmp(json_get_str(one, "kind", ""), "ethernet") != 0 &&
            strcmp(json_get_str(one, "kind", ""), "infiniband") != 0)
            return unknown("%.40s is not a physical link", name);
        return gbps > 0 ? known(gbps / 8, "%g Gb/s of %.40s", gbps, name)
                        : unknown("%.40s does not report its speed", name);
    }
    return unknown("a node does not report the interface at which other nodes reach it");
}

/* ---- Within a node ---- */

/* Return the bandwidth of one NVLink in one direction in GB/s, from the GPU's generation
 * (NVIDIA's data sheets), or 0. */
static double nvlink_gbs(const char *gpu)
{
    static const struct {
        const char *part;
        double gbs;
    } parts[] = {{"B100", 50}, {"B200", 50}, {"B300", 50}, {"V100", 25}, {"A100", 25},
                 {"A800", 25}, {"H100", 25}, {"H200", 25}, {"H800", 25}, {"H20", 25}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(gpu, parts[i].part))
            return parts[i].gbs;
    return 0;
}

static struct link_term pcie_of(const json_t *gpu, int n)
{
    const json_t *link = json_object_get(gpu, "pcie");
    double gts = json_get_num(link, "gts_max", 0);
    int width = (int)json_get_int(link, "width", 0);

    if (gts < 8 || width <= 0)
        return unknown("a node does not report the speed of its GPUs' PCIe links");
    return known(n * gts * width / 8 * PCIE_CODE, "PCIe %g GT/s x%d", gts, width);
}

static struct link_term links_of(const json_t *gpu, int n)
{
    const char *name = json_get_str(gpu, "name", "the GPU");
    int links = (int)json_get_int(json_object_get(gpu, "nvlink"), "active", 0);

    (void)n;
    if (links > 0 && nvlink_gbs(name) == 0)
        return unknown("the NVLink speed of %.60s is not known", name);
    if (links > 0)
        return known(links * nvlink_gbs(name), "%d NVLinks of %g GB/s", links,
                     nvlink_gbs(name));
    if (!json_object_get(gpu, "name"))
        return unknown("it is not known whether a node's GPUs have NVLink");
    return pcie_of(gpu, 1);
}

/* Return the slowest link among a node's GPUs, because a ring waits for its slowest link.
 * The limit is unknown if the ranks use only some of several unequal GPUs, or parts of a
 * GPU (MIG) that share its link. */
static struct link_term slowest_of(const struct ceiling_node *node, int n,
                                   struct link_term (*of)(const json_t *gpu, int n))
{
    const json_t *gpus = json_object_get(node->inventory, "gpus");
    struct link_term least = of(json_array_get(gpus, 0), n);
    bool is_mixed = false, is_split = false;

    for (size_t i = 0; i < json_array_size(gpus); i++) {
        struct link_term own = of(json_array_get(gpus, i), n);

        is_split = is_split || json_get_bool(json_array_get(gpus, i), "mig", false);
        is_mixed = is_mixed || strcmp(own.text, least.text) != 0;
        if (own.gbs < least.gbs)
            least = own;
    }
    if (is_split)
        return unknown("a node's GPUs are split (MIG), so ranks share a link");
    if (is_mixed && (size_t)node->ranks < json_array_size(gpus))
        return unknown("a node's GPUs differ, and it is not known which of them the "
                       "ranks use");
    return least;
}

static int gpus_used(const struct ceiling_node *node)
{
    int n = (int)json_array_size(json_object_get(node->inventory, "gpus"));

    return node->ranks < n ? node->ranks : n;
}

/* Return the PCIe bandwidth of the GPUs in use. All traffic that leaves the node passes
 * through PCIe. */
static struct link_term fed_of(const struct ceiling_node *node)
{
    int n = gpus_used(node);
    struct link_term fed = slowest_of(node, n, pcie_of);

    if (fed.gbs > 0 && n > 1)
        snprintf(fed.text + strlen(fed.text), sizeof(fed.text) - strlen(fed.text),
                 " of %d GPUs", n);
    else if (fed.gbs > 0)
        snprintf(fed.text + strlen(fed.text), sizeof(fed.text) - strlen(fed.text),
                 " of the GPU");
    return fed;
}

/* ---- All nodes ---- */

static const struct link_term *lesser(const struct link_term *a,
                                      const struct link_term *b)
{
    return b->gbs < a->gbs ? b : a;
}

/* Return true if the run or a node configures the network that NCCL uses. */
static bool is_chosen(const struct ceiling_node *nodes, size_t n, const json_t *env)
{
    static const char *const names[] = {"NCCL_IB_HCA", "NCCL_IB_DISABLE", "NCCL_NET"};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
            if (node_setting(nodes[i].inventory, env, names[k], NULL))
                return true;
    return false;
}

static struct link_term nccl_between(const struct ceiling_node *node)
{
    struct link_term ports = ports_of(node->inventory), fed = fed_of(node);

    return ports.gbs > 0 ? *lesser(&ports, &fed) : ports;
}

static struct link_term least_between(const char *backend,
                                      const struct ceiling_node *nodes, size_t n,
                                      const json_t *env)
{
    struct link_term least = {.gbs = 0};
    bool is_nccl = strcmp(backend, "nccl") == 0;

    if (is_nccl && is_chosen(nodes, n, env))
        return unknown("environment variables select NCCL's network");
    for (size_t i = 0; i < n; i++) {
        struct link_term own =
            is_nccl ? nccl_between(&nodes[i]) : interface_of(&nodes[i]);

        if (i == 0 || own.gbs < least.gbs)
            least = own;
    }
    return least;
}

static struct link_term least_within(const struct ceiling_node *nodes, size_t n)
{
    struct link_term least = {.gbs = 0};

    for (size_t i = 0; i < n; i++) {
        struct link_term own = slowest_of(&nodes[i], 1, links_of);

        if (i == 0 || own.gbs < least.gbs)
            least = own;
    }
    return least;
}

/* Return the limit for each collective. In a ring, each link carries the bytes that bus
 * bandwidth counts. In alltoall, each node sends the parts of all its ranks to the ranks
 * of other nodes. */
static json_t *figures(double gbs, double between_gbs, double within_gbs, int world,
                       int ranks)
{
    static const enum collective_kind ring[] = {
        COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_GATHER, COLLECTIVE_REDUCE_SCATTER,
        COLLECTIVE_BROADCAST, COLLECTIVE_REDUCE};
    json_t *out = json_object();
    double share = (double)(world - 1) / ranks / (world - ranks);

    for (size_t i = 0; i < sizeof(ring) / sizeof(ring[0]); i++)
        json_object_set_new(out, collective_name(ring[i]), json_real(gbs));
    if (between_gbs > 0) {
        gbs = between_gbs * share;
        if (within_gbs > 0 && within_gbs < gbs)
            gbs = within_gbs;
    }
    json_object_set_new(out, collective_name(COLLECTIVE_ALLTOALL), json_real(gbs));
    return out;
}

/* Return true if two nodes share a host. Such nodes exchange no bytes over a network
 * port. */
static bool share_a_host(const struct ceiling_node *nodes, size_t n)
{
    json_t *hosts = json_object();
    bool is_shared = false;

    for (size_t i = 0; i < n; i++) {
        const char *host = json_get_str(nodes[i].inventory, "hostid", NULL);

        is_shared = is_shared || (host && json_object_get(hosts, host));
        if (host)
            json_object_set_new(hosts, host, json_true());
    }
    json_decref(hosts);
    return is_shared;
}

static json_t *not_known(const char *why)
{
    struct finding finding = finding_begin();

    finding_set_text(&finding, "$why", why);
    return finding_end(&finding, MESSAGE_CEILING_UNKNOWN, NULL);
}

json_t *ceiling_verdict(const char *backend, const struct ceiling_node *nodes, size_t n,
                        const json_t *env)
{
    struct link_term between = {.gbs = 0}, within = {.gbs = 0};
    const struct link_term *limit;
    bool is_nccl = strcmp(backend, "nccl") == 0;
    int world = 0, most = 0;
    struct finding finding;

    for (size_t i = 0; i < n; i++) {
        world += nodes[i].ranks;
        most = nodes[i].ranks > most ? nodes[i].ranks : most;
    }
    if (n == 1 && !is_nccl)
        return not_known("ranks on one node measure the speed of memory, not of links");
    if (world < 2)
        return not_known("a single rank sends nothing");
    if (share_a_host(nodes, n))
        return not_known("some of the run's nodes share a host");
    if (n > 1)
        between = least_between(backend, nodes, n, env);
    if (is_nccl && most > 1)
        within = least_within(nodes, n);
    if (n > 1 && between.gbs <= 0)
        return not_known(between.text);
    if (is_nccl && most > 1 && within.gbs <= 0)
        return not_known(within.text);
    limit = n == 1 ? &within : within.gbs > 0 ? lesser(&between, &within) : &between;
    finding = finding_begin();
    finding_set_text(&finding, "limit", limit->text);
    finding_put(&finding, "{s:o, s:f, s:s}", "busbw_gbs",
                figures(limit->gbs, between.gbs, within.gbs, world, most), "$gbs",
                limit->gbs, "$of", limit == &within ? "GPU" : "node");
    return finding_end(&finding, MESSAGE_CEILING, NULL);
}
