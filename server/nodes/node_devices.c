/* SPDX-License-Identifier: Apache-2.0 */
/* node_devices.c - checks that a node offers the GPUs and NCCL libraries that a run
 * requests */
#include "server/nodes/node_devices.h"

#include "common/base/json_util.h"
#include "common/spec/run_matrix.h"

static bool has_device(const struct node *node, int64_t index)
{
    const json_t *devices = json_object_get(node_backend(node, "nccl"), "devices");

    for (size_t i = 0; i < json_array_size(devices); i++)
        if (json_get_int(json_array_get(devices, i), "index", -1) == index)
            return true;
    return false;
}

/* Return true if the node lists the library and can load it. */
static bool has_library(const struct node *node, const char *path, struct buf *refused)
{
    const json_t *list = json_object_get(node_backend(node, "nccl"), "libraries");
    const json_t *library = json_find(list, "path", path);
    const char *why = json_get_str(library, "reason", NULL);

    if (why)
        buf_printf(refused, "; %s cannot use %s: %s", node->name, path, why);
    if (library)
        return !why;
    buf_printf(refused, "; %s does not offer the NCCL library %s", node->name, path);
    for (size_t i = 0; i < json_array_size(list); i++)
        buf_printf(refused, "%s%s", i ? ", " : ", only ",
                   json_get_str(json_array_get(list, i), "path", "?"));
    return false;
}

static bool has_libraries(const struct node *node, const struct run_spec *spec,
                          struct buf *refused)
{
    const json_t *paths = json_object_get(spec->matrix, RUN_MATRIX_LIBRARY);

    if (spec->nccl_lib && !has_library(node, spec->nccl_lib, refused))
        return false;
    for (size_t i = 0; i < json_array_size(paths); i++) {
        const char *path = json_string_value(json_array_get(paths, i));

        if (path && !has_library(node, path, refused))
            return false;
    }
    return true;
}

bool node_devices_matter(const struct run_spec *spec)
{
    return spec->devices || spec->nccl_lib ||
           json_object_get(spec->matrix, RUN_MATRIX_LIBRARY);
}

long node_devices(const struct node *node, const struct run_spec *spec, long offered,
                  struct buf *refused)
{
    const json_t *list = run_spec_devices_of(spec, node->name);

    if (!has_libraries(node, spec, refused))
        return 0;
    if (!spec->devices)
        return offered;
    if (!list)
        buf_printf(refused, "; devices lists no GPU of %s", node->name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        int64_t index = json_integer_value(json_array_get(list, i));

        if (!has_device(node, index)) {
            buf_printf(refused, "; %s has no device %lld (%ld GPU%s)", node->name,
                       (long long)index, offered, offered == 1 ? "" : "s");
            return 0;
        }
    }
    return (long)json_array_size(list);
}

int node_device_of(const struct run_spec *spec, const char *node, int k)
{
    const json_t *list = run_spec_devices_of(spec, node);
    const json_t *index = json_array_get(list, (size_t)k);

    return index ? (int)json_integer_value(index) : -1;
}
