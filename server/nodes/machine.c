/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - describes the hardware and software of a run's nodes */
#include "server/nodes/machine.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"

#define HARDWARE_MAX 1000
/* Maximum number of system descriptions. It is limited because a run's document is
 * written at each change of state. Beyond it, kinds of machines are distinguished by
 * hardware and versions only. */
#define SYSTEMS_MAX 32

/* ---- Properties that affect figures and are equal on machines of the same kind ---- */

#define KIND_MAX 256
#define KINDS_MAX 16
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* ---- Devices, grouped by equal properties ---- */

/* A part of a device's description: the path of a member, and the text around its
 * value. */
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

/* The PCIe link speed is omitted, because it drops while the GPU is idle. */
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

/* Return true if an interface belongs to the machine, not to a container. */
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

/* Set a description of the devices, such as "8 x 400 Gb/s infiniband active, mlx5_core
 * 28.39.1002; 2 x ...". */
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

/* Set the number of PCIe bridges that redirect traffic between devices (ACS). */
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

/* ---- Other properties ---- */

/* Copy an object's members as "NAME.MEMBER". */
static void set_members(json_t *system, const json_t *inventory, const char *name)
{
    json_t *object = json_object_get(inventory, name), *value;
    const char *member_name;
    char path[128];

    json_object_foreach (object, member_name, value) {
        snprintf(path, sizeof(path), "%s.%s", name, member_name);
        /* shm_bytes is half of the memory by default, which differs on every machine. */
        if (strcmp(member_name, "shm_bytes") != 0)
            json_object_set(system, path, value);
    }
}

/* Return the member `system` of a run's `machines` (docs/reference/api.md): a new flat
 * object, empty if the agent reported nothing. */
static json_t *system_json(const json_t *inventory)
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

static const json_t *nccl_of(const struct node *node)
{
    const json_t *nccl = node_backend(node, "nccl");

    return json_get_bool(nccl, "available", false) ? nccl : NULL;
}

static void put_cpu(const json_t *cpu, struct buf *out)
{
    int sockets = (int)json_get_int(cpu, "sockets", 0);
    int cores = (int)json_get_int(cpu, "cores", 0);

    buf_append_str(out, json_get_str(cpu, "model", "unknown CPU"));
    if (sockets > 0)
        buf_printf(out, ", %d socket%s", sockets, sockets == 1 ? "" : "s");
    if (cores > 0)
        buf_printf(out, ", %d core%s", cores, cores == 1 ? "" : "s");
}

static const char *device_name(const json_t *devices, size_t i)
{
    return json_get_str(json_array_get(devices, i), "name", "unknown GPU");
}

/* Append the devices, with equal neighbours combined, such as "8 x NVIDIA H100". */
static void put_devices(const json_t *devices, struct buf *out)
{
    size_t n = json_array_size(devices), end;

    for (size_t i = 0; i < n; i = end) {
        const char *name = device_name(devices, i);

        for (end = i + 1; end < n && strcmp(device_name(devices, end), name) == 0;)
            end++;
        buf_printf(out, "%s%zu x %s", out->len ? "; " : "", end - i, name);
    }
}

static json_t *hardware_json(const struct node *node)
{
    struct buf out;
    json_t *text;

    buf_init(&out, HARDWARE_MAX);
    put_cpu(json_object_get(node->inventory, "cpu"), &out);
    put_devices(json_object_get(nccl_of(node), "devices"), &out);
    text = json_clean_string(out.len ? out.data : "");
    buf_release(&out);
    return text;
}

json_t *machine_gpus_json(const struct node *node)
{
    struct buf out;
    json_t *text;

    buf_init(&out, HARDWARE_MAX);
    put_devices(json_object_get(node->inventory, "gpus"), &out);
    text = out.len ? json_clean_string(out.data) : NULL;
    buf_release(&out);
    return text;
}

/* Return the version of the library that a worker would load. */
static const char *nccl_version(const json_t *nccl, const char *path)
{
    if (!path)
        return json_get_str(nccl, "nccl_version", NULL);
    return json_get_str(json_find(json_object_get(nccl, "libraries"), "path", path),
                        "version", NULL);
}

static void set_version(json_t *versions, const char *name, const char *version)
{
    if (version)
        json_object_set_new(versions, name, json_string(version));
}

static json_t *versions_json(const struct node *node, const char *nccl_lib)
{
    const json_t *nccl = nccl_of(node);
    json_t *versions = json_object();

    set_version(versions, "ringbench", node->version);
    set_version(versions, "nccl", nccl_version(nccl, nccl_lib));
    set_version(versions, "cuda_driver", json_get_str(nccl, "cuda_driver", NULL));
    set_version(versions, "cuda_runtime", json_get_str(nccl, "cuda_runtime", NULL));
    set_version(versions, "kernel", json_get_str(node->inventory, "kernel", NULL));
    return versions;
}

json_t *machine_json(const struct node *node, const char *nccl_lib)
{
    return json_pack("{s:o, s:o}", "hardware", hardware_json(node), "versions",
                     versions_json(node, nccl_lib));
}

static json_t *find_like(const json_t *machines, const json_t *own)
{
    static const char *const parts[] = {"hardware", "versions", "system"};
    json_t *machine;
    size_t i;

    json_array_foreach (machines, i, machine) {
        bool is_like = true;

        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
            is_like &=
                json_equal(json_object_get(machine, parts[k]),
                           json_object_get(own, parts[k])) ||
                (!json_object_get(machine, parts[k]) && !json_object_get(own, parts[k]));
        if (is_like)
            return machine;
    }
    return NULL;
}

/* Find the entry for the node's kind of machine, or append a new one. */
static json_t *machine_of(json_t *machines, const struct node *node, const char *nccl_lib)
{
    json_t *own = machine_json(node, nccl_lib), *found;
    json_t *system = system_json(node->inventory);

    if (json_object_size(system) > 0)
        json_object_set(own, "system", system);
    json_decref(system);
    found = find_like(machines, own);
    if (!found && json_array_size(machines) >= SYSTEMS_MAX) {
        json_object_del(own, "system");
        found = find_like(machines, own);
    }
    if (!found) {
        found = own;
        json_object_set_new(found, "nodes", json_array());
        json_array_append(machines, found);
    }
    json_decref(own);
    return found;
}

json_t *machines_json(const struct node *const *nodes, size_t n, const char *nccl_lib)
{
    json_t *machines = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *machine = machine_of(machines, nodes[i], nccl_lib);

        json_array_append_new(json_object_get(machine, "nodes"),
                              json_string(nodes[i]->name));
    }
    return machines;
}
