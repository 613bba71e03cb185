/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - reads network interfaces from /sys/class/net */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/inventory/fields.h"
#include "agent/inventory/inventory.h"
#include "agent/inventory/pci.h"
#include "agent/machine/host_file.h"
#include "common/base/json_util.h"

#define CLASS "/sys/class/net"
/* A machine with many containers has hundreds of virtual interfaces. */
#define VIRTUAL_MAX 32
#define INTERFACES_MAX 96
/* Values of linux/if_arp.h. */
#define TYPE_ETHERNET 1
#define TYPE_INFINIBAND 32
#define TYPE_LOOPBACK 772

static const struct field fields[] = {
    {"state", "operstate", FIELD_WORD},
    {"speed_mbps", "speed", FIELD_NUMBER},
    {"mtu", "mtu", FIELD_NUMBER},
    {"driver", "device/driver", FIELD_LINK},
};

struct interfaces {
    const char *root;
    json_t *list, *addresses;
    int n, n_virtual;
};

static int type_of(const char *root, const char *dir)
{
    static const struct field type = {"type", "type", FIELD_NUMBER};
    json_t *object = json_object();
    int number;

    fields_read(object, root, dir, &type, 1);
    number = (int)json_get_int(object, "type", 0);
    json_decref(object);
    return number;
}

/* A bond or VLAN reports its carrier's kind, Ethernet or InfiniBand. A container's end of
 * a veth pair is virtual. */
static const char *kind_of(const char *root, const char *dir)
{
    char path[FIELDS_PATH_MAX], full[PATH_MAX], type[32] = "";
    int number = type_of(root, dir);

    snprintf(path, sizeof(path), "%s/uevent", dir);
    host_file_value(root, path, "DEVTYPE", '=', type, sizeof(type));
    if (number == TYPE_LOOPBACK)
        return "loopback";
    if (number == TYPE_INFINIBAND)
        return "infiniband";
    if (strcmp(type, "bridge") == 0)
        return "bridge";
    snprintf(full, sizeof(full), "%s%s/device", root, dir);
    if (number == TYPE_ETHERNET &&
        (access(full, F_OK) == 0 || strcmp(type, "bond") == 0 ||
         strcmp(type, "vlan") == 0 || strcmp(type, "macvlan") == 0))
        return "ethernet";
    return "virtual";
}

static json_t *addresses_of(const json_t *addresses, const char *name)
{
    json_t *own = json_array(), *entry;
    size_t i;

    json_array_foreach (addresses, i, entry)
        if (strcmp(json_get_str(entry, "interface", ""), name) == 0)
            json_array_append(own, json_object_get(entry, "address"));
    return own;
}

static void add(void *arg, const char *name)
{
    struct interfaces *all = arg;
    char dir[FIELDS_PATH_MAX], device[FIELDS_PATH_MAX + 8];
    json_t *one;

    snprintf(dir, sizeof(dir), CLASS "/%s", name);
    const char *kind = kind_of(all->root, dir);
    bool is_virtual = strcmp(kind, "virtual") == 0;

    all->n++;
    all->n_virtual += is_virtual;
    if (json_array_size(all->list) >= INTERFACES_MAX ||
        (is_virtual && all->n_virtual > VIRTUAL_MAX))
        return;
    one = json_pack("{s:o, s:s, s:o}", "name", json_clean_string(name), "kind", kind,
                    "addresses", addresses_of(all->addresses, name));
    fields_read(one, all->root, dir, fields, sizeof(fields) / sizeof(fields[0]));
    snprintf(device, sizeof(device), "%s/device", dir);
    pci_describe(one, all->root, device);
    json_array_append_new(all->list, one);
}

json_t *inventory_net(const char *root, json_t *addresses, int *left_out)
{
    struct interfaces all = {root, json_array(), addresses, 0, 0};

    fields_each(root, CLASS, add, &all);
    *left_out = all.n - (int)json_array_size(all.list);
    return all.list;
}
