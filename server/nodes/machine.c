/* machine.c - what a run's nodes are and what runs on them */
#include "server/nodes/machine.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/nodes/system.h"

#define HARDWARE_MAX 1000
/* A run's document is written with each of its states: where every node is another kind,
 * those beyond this many are told by hardware and versions alone. */
#define SYSTEMS_MAX 32

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

/* Runs of equal names, as "8 x NVIDIA H100", behind what is there. */
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

/* The library that a worker would load. */
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

/* The machine that the node is like, or a new one at the end. */
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
