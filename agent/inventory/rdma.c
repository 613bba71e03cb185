/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.c - reads the ports of RDMA devices from /sys/class/infiniband */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inventory/fields.h"
#include "agent/inventory/inventory.h"
#include "agent/inventory/pci.h"
#include "agent/machine/host_file.h"
#include "common/base/json_util.h"

#define CLASS "/sys/class/infiniband"
/* A port may have 256 GIDs, one for each address of each VLAN. */
#define GIDS_MAX 16
#define PORTS_MAX 64

static const struct field port_fields[] = {
    {"state", "state", FIELD_WORD},
    {"rate_gbps", "rate", FIELD_NUMBER},
    {"link_layer", "link_layer", FIELD_WORD},
    /* only for RoCE; InfiniBand's GIDs do not refer to a network device */
    {"netdev", "gid_attrs/ndevs/0", FIELD_TEXT},
};

static const struct field device_fields[] = {
    {"driver", "device/driver", FIELD_LINK},
    {"firmware", "fw_ver", FIELD_TEXT},
    {"board", "board_id", FIELD_TEXT},
};

/* Error counters of PortCounters (InfiniBand Architecture Specification). Traffic
 * counters are omitted, because they would change the inventory all the time. */
static const struct field error_fields[] = {
    {"link_downed", "counters/link_downed", FIELD_NUMBER},
    {"link_error_recovery", "counters/link_error_recovery", FIELD_NUMBER},
    {"symbol_error", "counters/symbol_error", FIELD_NUMBER},
    {"local_link_integrity_errors", "counters/local_link_integrity_errors", FIELD_NUMBER},
    {"port_rcv_errors", "counters/port_rcv_errors", FIELD_NUMBER},
    {"port_xmit_discards", "counters/port_xmit_discards", FIELD_NUMBER},
};

struct port {
    const char *root;
    char dir[FIELDS_PATH_MAX];
    json_t *json, *gids;
    int number, n_gids;
};

struct ports {
    const char *root;
    const char *device;
    json_t *list;
    int n;
};

/* Format a GID, and an IPv4-mapped GID as an IPv4 address. Return false for an empty
 * entry. */
static bool gid_address(const char *line, char *text, socklen_t size)
{
    struct in6_addr gid;

    if (inet_pton(AF_INET6, line, &gid) != 1 || IN6_IS_ADDR_UNSPECIFIED(&gid))
        return false;
    return IN6_IS_ADDR_V4MAPPED(&gid) ? inet_ntop(AF_INET, &gid.s6_addr[12], text, size)
                                      : inet_ntop(AF_INET6, &gid, text, size);
}

/* The kernel uses "IB/RoCE v1" for both InfiniBand and RoCE v1. */
static const char *gid_type(const struct port *port, const char *name, char *line,
                            size_t size)
{
    char path[FIELDS_PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s/gid_attrs/types/%s", port->dir, name);
    if (!host_file_line(port->root, path, line, size))
        return NULL;
    if (strcmp(line, "IB/RoCE v1") != 0)
        return line;
    return strcmp(json_get_str(port->json, "link_layer", ""), "infiniband") == 0
               ? "InfiniBand"
               : "RoCE v1";
}

static void add_gid(void *arg, const char *name)
{
    struct port *port = arg;
    char path[FIELDS_PATH_MAX + 64], line[64], address[INET6_ADDRSTRLEN];
    json_t *gid;

    snprintf(path, sizeof(path), "%s/gids/%s", port->dir, name);
    if (!host_file_line(port->root, path, line, sizeof(line)) ||
        !gid_address(line, address, sizeof(address)) || port->n_gids++ >= GIDS_MAX)
        return;
    gid =
        json_pack("{s:i, s:s}", "index", (int)strtol(name, NULL, 10), "address", address);
    json_object_set_new(gid, "type",
                        json_clean_string(gid_type(port, name, line, sizeof(line))));
    json_array_append_new(port->gids, gid);
}

/* dev_port counts from 0, ports from 1. */
static void match_netdev(void *arg, const char *name)
{
    static const struct field dev_port = {"n", "dev_port", FIELD_NUMBER};
    struct port *port = arg;
    char dir[FIELDS_PATH_MAX];
    json_t *object = json_object();

    snprintf(dir, sizeof(dir), "/sys/class/net/%.64s", name);
    fields_read(object, port->root, dir, &dev_port, 1);
    if (json_get_int(object, "n", 0) + 1 == port->number &&
        !json_object_get(port->json, "netdev"))
        json_object_set_new(port->json, "netdev", json_clean_string(name));
    json_decref(object);
}

static void add_errors(const struct port *port)
{
    json_t *all = json_object(), *errors = json_object(), *count;
    const char *name;

    fields_read(all, port->root, port->dir, error_fields,
                sizeof(error_fields) / sizeof(error_fields[0]));
    json_object_foreach (all, name, count)
        if (json_number_value(count) > 0)
            json_object_set(errors, name, count);
    if (json_object_size(errors) > 0)
        json_object_set(port->json, "errors", errors);
    json_decref(errors);
    json_decref(all);
}

static void describe_port(struct port *port, const char *device)
{
    char dir[FIELDS_PATH_MAX];

    fields_read(port->json, port->root, port->dir, port_fields,
                sizeof(port_fields) / sizeof(port_fields[0]));
    add_errors(port);
    snprintf(dir, sizeof(dir), "%s/gids", port->dir);
    fields_each(port->root, dir, add_gid, port);
    if (port->n_gids > GIDS_MAX)
        json_object_set_new(port->json, "gids_left_out",
                            json_integer(port->n_gids - GIDS_MAX));
    snprintf(dir, sizeof(dir), CLASS "/%.64s/device/net", device);
    fields_each(port->root, dir, match_netdev, port);
    snprintf(dir, sizeof(dir), CLASS "/%.64s", device);
    fields_read(port->json, port->root, dir, device_fields,
                sizeof(device_fields) / sizeof(device_fields[0]));
    snprintf(dir, sizeof(dir), CLASS "/%.64s/device", device);
    pci_describe(port->json, port->root, dir);
}

static void add_port(void *arg, const char *name)
{
    struct ports *ports = arg;
    struct port port = {
        .root = ports->root, .gids = json_array(), .number = (int)strtol(name, NULL, 10)};

    if (ports->n++ < PORTS_MAX) {
        snprintf(port.dir, sizeof(port.dir), CLASS "/%.64s/ports/%.16s", ports->device,
                 name);
        port.json = json_pack("{s:o, s:i, s:O}", "name", json_clean_string(ports->device),
                              "port", port.number, "gids", port.gids);
        describe_port(&port, ports->device);
        json_array_append_new(ports->list, port.json);
    }
    json_decref(port.gids);
}

static void add_device(void *arg, const char *name)
{
    struct ports *ports = arg;
    char dir[FIELDS_PATH_MAX];

    ports->device = name;
    snprintf(dir, sizeof(dir), CLASS "/%.64s/ports", name);
    fields_each(ports->root, dir, add_port, ports);
}

json_t *inventory_rdma(const char *root, int *left_out)
{
    struct ports ports = {root, NULL, json_array(), 0};

    fields_each(root, CLASS, add_device, &ports);
    *left_out = ports.n - (int)json_array_size(ports.list);
    return ports.list;
}
