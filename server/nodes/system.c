/* system.c - of a node's inventory, what a figure may depend on */
#include "server/nodes/system.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"

#define KIND_MAX 256
#define KINDS_MAX 16
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* ---- devices, those alike together ---- */

/* What is said of a device: a member, and what stands before and behind its value. */
struct part {
    const char *path, *before, *after;
};

static const struct part rdma_parts[] = {
    {"rate_gbps", " ", " Gb/s"}, {"link_layer", " ", ""}, {"state", " ", ""},
    {"driver", ", ", ""},        {"firmware", " ", ""},   {"pcie/width", ", PCIe x", ""},
    {"pcie/gts", " ", " GT/s"},
};

static const struct part net_parts[] = {
    {"speed_mbps", " ", " Mb/s"}, {"kind", " ", ""},    {"state", " ", ""},
    {"mtu", ", MTU ", ""},        {"driver", ", ", ""},
};

/* Not the speed of their PCIe links, which is lower while they have nothing to do. */
static const struct part gpu_parts[] = {
    {"name", " ", ""},
    {"pcie/width", ", PCIe x", ""},
    {"nvlink/active", ", ", " links"},
    {"ecc", ", ECC ", ""},
    {"mig", ", MIG ", ""},
    {"persistence", ", persistence ", ""},
    {"power_limit_mw", ", ", " mW"},
};

static const json_t *member(const json_t *object, const char *path)
{
    const char *slash = strchr(path, '/');
    char name[32];

    if (!slash)
        return json_object_get(object, path);
    snprintf(name, sizeof(name), "%.*s", (int)(slash - path), path);
    return json_object_get(json_object_get(object, name), slash + 1);
}

static void say(struct buf *out, const json_t *value, const struct part *part)
{
    buf_append_str(out, part->before);
    if (json_is_string(value))
        buf_append_str(out, json_string_value(value));
    else if (json_is_boolean(value))
        buf_append_str(out, json_is_true(value) ? "on" : "off");
    else
        buf_printf(out, "%.10g", json_number_value(value));
    buf_append_str(out, part->after);
}

static void describe(struct buf *out, const json_t *device, const struct part *parts,
                     size_t n)
{
    buf_clear(out);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = member(device, parts[i].path);

        if (json_is_string(value) || json_is_boolean(value) || json_is_number(value))
            say(out, value, &parts[i]);
    }
}

/* Interfaces that are the machine's own, and not a container's. */
static bool is_device(const json_t *device)
{
    const char *kind = json_get_str(device, "kind", NULL);

    return !kind || strcmp(kind, "ethernet") == 0 || strcmp(kind, "infiniband") == 0;
}

static json_t *counts_of(const json_t *list, const struct part *parts, size_t n)
{
    json_t *counts = json_object(), *device;
    struct buf text;
    size_t i;

    buf_init(&text, KIND_MAX);
    json_array_foreach (list, i, device) {
        describe(&text, device, parts, n);
        if (is_device(device) && text.len > 0 &&
            (json_object_get(counts, text.data) || json_object_size(counts) < KINDS_MAX))
            json_object_set_new(counts, text.data,
                                json_integer(json_get_int(counts, text.data, 0) + 1));
    }
    buf_release(&text);
    return counts;
}

/* "8 x 400 Gb/s infiniband active, mlx5_core 28.39.1002; 2 x ..." */
static void set_devices(json_t *system, const json_t *inventory, const char *name,
                        const struct part *parts, size_t n)
{
    json_t *counts = counts_of(json_object_get(inventory, name), parts, n), *count;
    const char *kind;
    struct buf text;

    buf_init(&text, (size_t)KINDS_MAX * KIND_MAX);
    json_object_foreach (counts, kind, count)
        buf_printf(&text, "%s%d x%s", text.len ? "; " : "",
                   (int)json_integer_value(count), kind);
    if (text.len > 0)
        json_object_set_new(system, name, json_clean_string(text.data));
    buf_release(&text);
    json_decref(counts);
}

/* Bridges between devices that redirect, as one number. */
static void set_redirects(json_t *system, const json_t *inventory)
{
    json_t *bridges = json_object(), *gpu, *bridge;
    bool is_known = false;
    size_t i, k;

    json_array_foreach (json_object_get(inventory, "gpus"), i, gpu) {
        is_known |= json_object_get(gpu, "acs") != NULL;
        json_array_foreach (json_object_get(gpu, "acs"), k, bridge)
            json_object_set_new(bridges, json_string_value(bridge), json_true());
    }
    if (is_known)
        json_object_set_new(system, "acs_bridges",
                            json_integer((json_int_t)json_object_size(bridges)));
    json_decref(bridges);
}

/* ---- the rest ---- */

/* What stands in an object as "NAME.MEMBER". */
static void set_members(json_t *system, const json_t *inventory, const char *name)
{
    json_t *object = json_object_get(inventory, name), *value;
    const char *member_name;
    char path[128];

    json_object_foreach (object, member_name, value) {
        snprintf(path, sizeof(path), "%s.%s", name, member_name);
        /* By default half of the memory, which no two machines have alike. */
        if (strcmp(member_name, "shm_bytes") != 0)
            json_object_set(system, path, value);
    }
}

json_t *system_json(const json_t *inventory)
{
    static const char *const settings[] = {"os", "governor", "iommu", "numa_balancing",
                                           "nccl_conf"};
    json_t *system = json_object();

    for (size_t i = 0; i < COUNT(settings); i++)
        json_object_set(system, settings[i], json_object_get(inventory, settings[i]));
    set_devices(system, inventory, "gpus", gpu_parts, COUNT(gpu_parts));
    set_devices(system, inventory, "rdma", rdma_parts, COUNT(rdma_parts));
    set_devices(system, inventory, "net", net_parts, COUNT(net_parts));
    set_redirects(system, inventory);
    set_members(system, inventory, "limits");
    set_members(system, inventory, "modules");
    set_members(system, inventory, "nccl_env");
    return system;
}
