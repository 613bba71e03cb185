/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.c - collects the inventory of this host */
#include "agent/inventory/inventory.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/bind/topology.h"
#include "agent/inventory/pci.h"
#include "agent/machine/host_file.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"

/* Read PRETTY_NAME without its quotes. */
json_t *inventory_os(const char *root)
{
    char text[512];
    char *name = text;
    size_t len;

    if (!host_file_value(root, "/etc/os-release", "PRETTY_NAME", '=', text, sizeof(text)))
        return json_null();
    len = strlen(name);
    if (len >= 2 && (name[0] == '"' || name[0] == '\'') && name[len - 1] == name[0]) {
        name[len - 1] = '\0';
        name++;
    }
    return clean_text_json(name, strlen(name));
}

static bool format_address(const struct sockaddr *address, char *text, socklen_t size)
{
    union {
        const struct sockaddr *any;
        const struct sockaddr_in *v4;
        const struct sockaddr_in6 *v6;
    } at = {address};

    if (address->sa_family == AF_INET)
        return inet_ntop(AF_INET, &at.v4->sin_addr, text, size) != NULL;
    if (address->sa_family != AF_INET6)
        return false;
    /* A link-local address needs a zone, which is meaningless on another host. */
    if (IN6_IS_ADDR_LINKLOCAL(&at.v6->sin6_addr))
        return false;
    return inet_ntop(AF_INET6, &at.v6->sin6_addr, text, size) != NULL;
}

static void add_addresses(json_t *array, const struct ifaddrs *list, bool is_loopback)
{
    char text[INET6_ADDRSTRLEN];

    for (; list; list = list->ifa_next) {
        if (!list->ifa_addr || !(list->ifa_flags & IFF_UP) ||
            is_loopback != ((list->ifa_flags & IFF_LOOPBACK) != 0) ||
            !format_address(list->ifa_addr, text, sizeof(text)))
            continue;
        json_array_append_new(
            array, json_pack("{s:s, s:s}", "interface", list->ifa_name, "address", text));
    }
}

json_t *inventory_addresses(void)
{
    struct ifaddrs *list = NULL;
    json_t *array = json_array();

    if (getifaddrs(&list))
        return array;
    add_addresses(array, list, false);
    add_addresses(array, list, true);
    freeifaddrs(list);
    return array;
}

/* RINGBENCH_HOSTID lets one machine act as several hosts. */
json_t *inventory_hostid(const char *root)
{
    const char *override = getenv("RINGBENCH_HOSTID");
    char boot[64] = "", host[256] = "", text[384];

    if (override && override[0])
        return clean_text_json(override, strlen(override));
    host_file_line(root, "/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
    gethostname(host, sizeof(host) - 1);
    snprintf(text, sizeof(text), "%s-%s", boot, host);
    return clean_text_json(text, strlen(text));
}

/* Return the network namespace, or NULL if it is unknown. Agents in the same namespace
 * see the same ports. */
static json_t *net_namespace(const char *root)
{
    char path[4096];
    struct stat file;

    snprintf(path, sizeof(path), "%s/proc/self/ns/net", root);
    return stat(path, &file) ? NULL : json_integer((json_int_t)file.st_ino);
}

static void add_topology(json_t *inventory, const char *root)
{
    hwloc_topology_t topology = topology_load(root);

    if (!topology) {
        json_object_set_new(inventory, "gpus", json_array());
        return;
    }
    inventory_add_cpu(inventory, topology, root);
    json_object_set_new(inventory, "gpus", pci_gpus(topology, root));
    hwloc_topology_destroy(topology);
}

/* The lists are limited so that the inventory stays far below the server's size limit. */
static void add_facts(json_t *inventory, const char *root)
{
    json_t *addresses = json_object_get(inventory, "addresses"), *out = json_object();
    int net, rdma;

    json_object_set_new(inventory, "net", inventory_net(root, addresses, &net));
    json_object_set_new(inventory, "rdma", inventory_rdma(root, &rdma));
    if (net > 0)
        json_object_set_new(out, "net", json_integer(net));
    if (rdma > 0)
        json_object_set_new(out, "rdma", json_integer(rdma));
    json_object_set_new(inventory, "left_out", out);
    add_topology(inventory, root);
    inventory_add_system(inventory, root);
}

json_t *inventory_read(const char *root)
{
    struct utsname names;
    char host[256] = "";
    json_t *inventory;

    if (uname(&names))
        memset(&names, 0, sizeof(names));
    gethostname(host, sizeof(host) - 1);
    inventory =
        json_pack("{s:o, s:s, s:o, s:I, s:o, s:o, s:o*}", "host",
                  clean_text_json(host, strlen(host)), "kernel", names.release, "os",
                  inventory_os(root), "memory_bytes", inventory_memory_bytes(root),
                  "addresses", inventory_addresses(), "hostid", inventory_hostid(root),
                  "net_namespace", net_namespace(root));
    if (inventory)
        add_facts(inventory, root);
    return inventory;
}

/* True if each GPU of the list should appear as one CUDA device. GPUs in MIG mode and
 * virtual functions, which belong to virtual machines, do not. */
static bool are_whole(const json_t *gpus)
{
    json_t *gpu;
    size_t i;

    json_array_foreach (gpus, i, gpu)
        if (json_get_bool(gpu, "mig", false) || json_object_get(gpu, "physfn"))
            return false;
    return json_array_size(gpus) > 0;
}

/* True if CUDA could count its devices, because the CUDA runtime, NCCL and the driver
 * were found. In a container without GPUs the driver's library is missing, but its module
 * is loaded. */
static bool has_counted(const json_t *inventory, const json_t *nccl)
{
    return json_object_get(nccl, "nccl_version") &&
           json_object_get(nccl, "cuda_runtime") &&
           (json_object_get(nccl, "cuda_driver") ||
            json_object_get(json_object_get(inventory, "modules"), "nvidia"));
}

/* Set `gpus_usable`: how many GPUs on the bus the agent's workers can use through CUDA,
 * and why the number is lower if some cannot be used. */
static void add_usable(json_t *inventory, const json_t *nccl)
{
    const json_t *gpus = json_object_get(inventory, "gpus");
    size_t usable = json_array_size(json_object_get(nccl, "devices"));
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    char why[400] = "";

    json_object_del(inventory, "gpus_usable");
    if (!are_whole(gpus) || !has_counted(inventory, nccl))
        return;
    if (usable < json_array_size(gpus))
        snprintf(why, sizeof(why), "%s%s", visible ? "CUDA_VISIBLE_DEVICES=" : "",
                 visible ? visible : json_get_str(nccl, "reason", ""));
    json_object_set_new(inventory, "gpus_usable",
                        json_pack("{s:I, s:I, s:o}", "usable", (json_int_t)usable,
                                  "on_bus", (json_int_t)json_array_size(gpus), "why",
                                  clean_text_json(why, strlen(why))));
}

bool inventory_add_probed(json_t *inventory, json_t *backends)
{
    json_t *gpus = json_object_get(inventory, "gpus");
    json_t *nccl = json_object_get(backends, "nccl"), *gpu;
    size_t i;

    json_array_foreach (json_object_get(nccl, "gpus"), i, gpu) {
        json_t *known = json_find(gpus, "pci", json_get_str(gpu, "pci", ""));

        if (known)
            json_object_update(known, gpu);
        else
            json_array_append(gpus, gpu);
    }
    json_object_del(nccl, "gpus");
    add_usable(inventory, nccl);
    if (json_equal(json_object_get(inventory, "backends"), backends))
        return false;
    json_object_set_new(inventory, "backends", json_deep_copy(backends));
    return true;
}

bool inventory_lacks_backend(const json_t *inventory)
{
    bool has_gpus = json_array_size(json_object_get(inventory, "gpus")) > 0;
    const char *name;
    json_t *backend;

    json_object_foreach (json_object_get(inventory, "backends"), name, backend)
        if (!json_get_bool(backend, "available", false) &&
            (has_gpus || strcmp(name, "nccl") != 0))
            return true;
    return false;
}
