/* pci.c - where a device is on the PCI bus, and how fast its link is */
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
};

static const struct field link_fields[] = {
    {"gts", "current_link_speed", FIELD_NUMBER},
    {"gts_max", "max_link_speed", FIELD_NUMBER},
    {"width", "current_link_width", FIELD_NUMBER},
    {"width_max", "max_link_width", FIELD_NUMBER},
};

/* "0000:18:00.0" */
static bool is_address(const char *name)
{
    unsigned domain, bus, device, function;
    int len = 0;

    return sscanf(name, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &len) == 4 &&
           len > 0 && name[len] == '\0';
}

/* Cut what is below the device: of virtio's or a port's folder. False: there is none. */
static bool cut_to_device(char *path)
{
    char *name = strrchr(path, '/');

    while (name && !is_address(name + 1)) {
        *name = '\0';
        name = strrchr(path, '/');
    }
    return name != NULL;
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
}
