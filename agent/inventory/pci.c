/* SPDX-License-Identifier: Apache-2.0 */
/* pci.c - describes a device's place on the PCI bus, its link speed and access control
 *
 * hwloc finds the GPUs. hwloc does not report link speed, link width and access control,
 * which are read from /sys. */
#include "agent/inventory/pci.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inventory/fields.h"

static const struct field place[] = {
    {"numa", "numa_node", FIELD_NUMBER},
    {"cpus", "local_cpulist", FIELD_TEXT},
    {"physfn", "physfn", FIELD_LINK}, /* only for a virtual function (SR-IOV) */
};

static const struct field link_fields[] = {
    {"gts", "current_link_speed", FIELD_NUMBER},
    {"gts_max", "max_link_speed", FIELD_NUMBER},
    {"width", "current_link_width", FIELD_NUMBER},
    {"width_max", "max_link_width", FIELD_NUMBER},
};

/* Return true for a PCI address such as "0000:18:00.0". */
static bool is_address(const char *name)
{
    unsigned domain, bus, device, function;
    int len = 0;

    return sscanf(name, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &len) == 4 &&
           len > 0 && name[len] == '\0';
}

/* Cut path components below the PCI device, such as those of virtio or a port. Returns
 * false if no component is a PCI device. */
static bool cut_to_device(char *path)
{
    char *name = strrchr(path, '/');

    while (name && !is_address(name + 1)) {
        *name = '\0';
        name = strrchr(path, '/');
    }
    return name != NULL;
}

/* ---- access control services ---- */

/* PCI Express Base Specification 7.7.11: the extended capability ACS. ACS_REDIRECTS
 * combines its control register's bits request redirect, completion redirect and upstream
 * forwarding. */
#define CAPABILITIES 0x100
#define ACS 0x000d
#define ACS_CONTROL 6
#define ACS_REDIRECTS 0x1c
#define CONFIG_BRIEF                                                                     \
    64 /* number of bytes that the kernel shows to unprivileged users                    \
        */
#define CONFIG_MAX 4096

int pci_redirects(const uint8_t *config, size_t len)
{
    size_t at = CAPABILITIES;

    if (len <= CONFIG_BRIEF)
        return -1;
    /* Capabilities may be in any order, but a chain that goes backwards could loop. */
    while (at + ACS_CONTROL + 2 <= len) {
        size_t next = (size_t)(config[at + 3] << 4 | config[at + 2] >> 4);

        if ((config[at] | config[at + 1] << 8) == ACS)
            return (config[at + ACS_CONTROL] & ACS_REDIRECTS) != 0;
        if (next <= at)
            break;
        at = next;
    }
    return 0;
}

static int bridge_redirects(const char *path)
{
    char full[PATH_MAX];
    uint8_t config[CONFIG_MAX];
    size_t len;
    FILE *file;

    if (snprintf(full, sizeof(full), "%s/config", path) >= (int)sizeof(full))
        return -1;
    file = fopen(full, "re");
    len = file ? fread(config, 1, sizeof(config), file) : 0;
    if (file)
        fclose(file);
    return pci_redirects(config, len);
}

/* Set `acs` to the bridges above the device that redirect traffic. `acs` stays absent if
 * a bridge cannot be read. */
static void find_redirects(json_t *object, char *path)
{
    json_t *bridges = json_array();
    char *name = strrchr(path, '/');
    int redirects = 0;

    for (*name = '\0', name = strrchr(path, '/');
         redirects >= 0 && name && is_address(name + 1);
         *name = '\0', name = strrchr(path, '/')) {
        redirects = bridge_redirects(path);
        if (redirects == 1)
            json_array_append_new(bridges, json_string(name + 1));
    }
    if (redirects >= 0)
        json_object_set(object, "acs", bridges);
    json_decref(bridges);
}

void pci_describe(json_t *object, const char *root, const char *dir)
{
    char full[PATH_MAX], path[PATH_MAX];
    json_t *link;

    if (snprintf(full, sizeof(full), "%s%s", root, dir) >= (int)sizeof(full) ||
        !realpath(full, path) || !cut_to_device(path))
        return;
    json_object_set_new(object, "pci", json_string(strrchr(path, '/') + 1));
    fields_read(object, "", path, place, sizeof(place) / sizeof(place[0]));
    link = json_object();
    fields_read(link, "", path, link_fields,
                sizeof(link_fields) / sizeof(link_fields[0]));
    if (json_object_size(link) > 0)
        json_object_set(object, "pcie", link);
    json_decref(link);
    find_redirects(object, path);
}

/* ---- GPUs ---- */

#define GPUS_MAX 64
#define NVIDIA 0x10de
#define DISPLAY 0x03

struct gpu_dir {
    char path[FIELDS_PATH_MAX]; /* the order of paths as text is the order on the bus */
};

static int compare_dirs(const void *a, const void *b)
{
    return strcmp(((const struct gpu_dir *)a)->path, ((const struct gpu_dir *)b)->path);
}

/* Sort the GPUs, because hwloc visits them by memory domain and not in bus order. */
json_t *pci_gpus(hwloc_topology_t topology, const char *root)
{
    json_t *list = json_array();
    struct gpu_dir dirs[GPUS_MAX];
    size_t n = 0;

    for (hwloc_obj_t device = hwloc_get_next_pcidev(topology, NULL); device;
         device = hwloc_get_next_pcidev(topology, device)) {
        const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;

        if (pci->vendor_id == NVIDIA && pci->class_id >> 8 == DISPLAY && n < GPUS_MAX)
            snprintf(dirs[n++].path, sizeof(dirs[0].path),
                     "/sys/bus/pci/devices/%04x:%02x:%02x.%x", pci->domain, pci->bus,
                     pci->dev, pci->func);
    }
    qsort(dirs, n, sizeof(dirs[0]), compare_dirs);
    for (size_t i = 0; i < n; i++) {
        json_t *gpu = json_object();

        pci_describe(gpu, root, dirs[i].path);
        json_array_append_new(list, gpu);
    }
    return list;
}
