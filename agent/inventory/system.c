/* SPDX-License-Identifier: Apache-2.0 */
/* system.c - reads system settings, limits of this process and kernel modules */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/inventory/fields.h"
#include "agent/inventory/inventory.h"
#include "agent/machine/host_file.h"
#include "common/base/json_util.h"

#define CGROUPS "/sys/fs/cgroup"
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct field settings[] = {
    {"governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", FIELD_WORD},
    {"numa_balancing", "proc/sys/kernel/numa_balancing", FIELD_NUMBER},
    {"iommu", "sys/kernel/iommu_groups/0/type", FIELD_TEXT},
    {"nvidia_module", "proc/driver/nvidia/version", FIELD_TEXT},
};

json_int_t inventory_memory_bytes(const char *root)
{
    char text[64];

    if (!host_file_value(root, "/proc/meminfo", "MemTotal", ':', text, sizeof(text)))
        return 0;
    return strtoll(text, NULL, 10) * 1024;
}

/* ---- limits ---- */

struct limit {
    const char *name, *line;
    int column; /* 0: soft limit; 1: hard limit, to which workers raise the soft one */
};

static const struct limit limits[] = {
    {"memlock_bytes", "Max locked memory", 0},
    {"open_files", "Max open files", 1},
};

static json_t *limit_json(const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);

    if (strncmp(text, "unlimited", 9) == 0 || strncmp(text, "max", 3) == 0)
        return json_string("unlimited");
    return end > text && value >= 0 ? json_integer(value) : NULL;
}

static void read_limit(json_t *object, const char *line)
{
    for (size_t i = 0; i < COUNT(limits); i++) {
        const char *at = line + strlen(limits[i].line);

        if (strncmp(line, limits[i].line, strlen(limits[i].line)) != 0)
            continue;
        at += strspn(at, " ");
        for (int column = 0; column < limits[i].column; column++) {
            at += strcspn(at, " \n");
            at += strspn(at, " ");
        }
        json_object_set_new(object, limits[i].name, limit_json(at));
    }
}

/* Return the size limit of shared memory: the mount option `size`, or half of the memory.
 */
static json_t *shm_size(const char *root, const char *options)
{
    const char *size = strstr(options, "size=");
    char *unit;
    long long value;

    if (!size)
        return json_integer(inventory_memory_bytes(root) / 2);
    value = strtoll(size + strlen("size="), &unit, 10);
    return json_integer(*unit == 'k' ? value * 1024 : value);
}

static void read_mount(json_t *object, const char *root, const char *line)
{
    static const char shm[] = " /dev/shm tmpfs ";
    const char *at = strstr(line, shm);

    if (at)
        json_object_set_new(object, "shm_bytes", shm_size(root, at + strlen(shm)));
}

/* Set the smallest limit of this process's cgroup and its ancestors. */
static void read_cgroup(json_t *object, const char *root, const char *file,
                        const char *name)
{
    char cgroup[FIELDS_PATH_MAX], path[FIELDS_PATH_MAX + 64], line[64];
    bool more = host_file_cgroup(root, cgroup, sizeof(cgroup));

    while (more) {
        snprintf(path, sizeof(path), CGROUPS "%s/%s", cgroup, file);
        if (host_file_line(root, path, line, sizeof(line)) && line[0] != 'm') {
            const char *period = strchr(line, ' ');
            double value = strtod(line, NULL);
            const json_t *least = json_object_get(object, name);

            value /= period ? strtod(period, NULL) : 1.0;
            if (value > 0.0 && (!least || value < json_number_value(least)))
                json_object_set_new(object, name,
                                    period ? json_real(value)
                                           : json_integer((json_int_t)value));
        }
        more = cgroup[0] != '\0';
        if (more)
            *strrchr(cgroup, '/') = '\0';
    }
}

static json_t *read_limits(const char *root)
{
    json_t *object = json_object();
    FILE *file = host_file_open(root, "/proc/self/limits");
    char line[1024];

    while (file && fgets(line, sizeof(line), file))
        read_limit(object, line);
    if (file)
        fclose(file);
    file = host_file_open(root, "/proc/self/mounts");
    while (file && fgets(line, sizeof(line), file))
        read_mount(object, root, line);
    if (file)
        fclose(file);
    read_cgroup(object, root, "memory.max", "cgroup_memory_bytes");
    read_cgroup(object, root, "cpu.max", "cgroup_cpus");
    read_cgroup(object, root, "pids.max", "cgroup_processes");
    return object;
}

/* ---- modules ---- */

/* Modules that determine which transports NCCL can use. */
static const char *const modules[] = {
    "nvidia",    "nvidia_uvm", "nvidia_peermem", "nv_peer_mem", "gdrdrv", "nvidia_fs",
    "mlx5_core", "mlx5_ib",    "ib_uverbs",      "bnxt_re",     "irdma",  "efa",
};

/* Object of module versions by name; "" for a module without a version. */
static json_t *read_modules(const char *root)
{
    json_t *object = json_object();

    for (size_t i = 0; i < COUNT(modules); i++) {
        static const struct field version[] = {{"version", "version", FIELD_TEXT},
                                               {"state", "initstate", FIELD_TEXT}};
        char dir[FIELDS_PATH_MAX];
        json_t *found = json_object();

        snprintf(dir, sizeof(dir), "/sys/module/%s", modules[i]);
        fields_read(found, root, dir, version, COUNT(version));
        if (json_object_size(found) > 0)
            json_object_set_new(object, modules[i],
                                json_string(json_get_str(found, "version", "")));
        json_decref(found);
    }
    return object;
}

/* If the folder of IOMMU groups exists but is empty, the IOMMU is off. */
static void set_iommu_off(json_t *inventory, const char *root)
{
    char full[PATH_MAX];

    if (!json_object_get(inventory, "iommu") &&
        snprintf(full, sizeof(full), "%s/sys/kernel/iommu_groups", root) <
            (int)sizeof(full) &&
        access(full, F_OK) == 0)
        json_object_set_new(inventory, "iommu", json_string("off"));
}

void inventory_add_system(json_t *inventory, const char *root)
{
    fields_read(inventory, root, "", settings, COUNT(settings));
    set_iommu_off(inventory, root);
    json_object_set_new(inventory, "limits", read_limits(root));
    json_object_set_new(inventory, "modules", read_modules(root));
}
