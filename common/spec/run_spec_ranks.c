/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec_ranks.c - parses the fields for ranks and devices: split, traffic, devices,
 * nccl_lib */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/spec/run_spec_parts.h"

#define DEVICES_MAX 64
#define DEVICE_INDEX_MAX 1023

static bool has_collective(const struct run_spec *spec, enum collective_kind kind)
{
    for (size_t i = 0; i < spec->n_collectives; i++)
        if (spec->collectives[i] == kind)
            return true;
    return false;
}

static void parse_split(const struct spec_field *field, json_t *value,
                        struct run_spec *spec, const char *pointer,
                        struct problems *problems)
{
    struct error err;

    (void)field;
    if (split_parse(value, &spec->split, &err))
        problems_add(problems, pointer, "%s", err.text);
}

static json_t *show_split(const struct spec_field *field, const struct run_spec *spec)
{
    (void)field;
    return split_to_json(&spec->split);
}

const struct spec_kind spec_split = {parse_split, show_split, NULL, NULL};

static void parse_traffic(const struct spec_field *field, json_t *value,
                          struct run_spec *spec, const char *pointer,
                          struct problems *problems)
{
    struct error err;

    (void)field;
    if (traffic_parse(value, &spec->traffic, &err))
        problems_add(problems, pointer, "%s", err.text);
}

static json_t *show_traffic(const struct spec_field *field, const struct run_spec *spec)
{
    (void)field;
    return traffic_to_json(&spec->traffic);
}

/* Show traffic only if the run includes alltoallv. */
static bool traffic_is_said(const struct spec_field *field, const struct run_spec *spec)
{
    (void)field;
    return has_collective(spec, COLLECTIVE_ALLTOALLV);
}

static void release_traffic(const struct spec_field *field, struct run_spec *spec)
{
    (void)field;
    traffic_release(&spec->traffic);
}

const struct spec_kind spec_traffic = {parse_traffic, show_traffic, traffic_is_said,
                                       release_traffic};

static void check_device_list(const json_t *list, const char *pointer,
                              struct problems *problems)
{
    bool is_listed[DEVICE_INDEX_MAX + 1] = {false};
    size_t n = json_array_size(list);
    char at[300];

    if (n == 0 || n > DEVICES_MAX)
        problems_add(problems, pointer, "must be an array of 1 to %d device numbers",
                     DEVICES_MAX);
    for (size_t i = 0; i < n && n <= DEVICES_MAX; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t device = json_is_integer(item) ? json_integer_value(item) : -1;

        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        if (device < 0 || device > DEVICE_INDEX_MAX) {
            problems_add(problems, at, "must be an integer from 0 to %d",
                         DEVICE_INDEX_MAX);
            continue;
        }
        if (is_listed[device])
            problems_add(problems, at, "device %lld is listed twice", (long long)device);
        is_listed[device] = true;
    }
}

/* Check a list of devices, [0, 1] for all nodes or {"NODE": [0, 1], ...}. */
void spec_check_devices(json_t *value, const char *pointer, struct problems *problems)
{
    const char *node;
    json_t *list;
    char at[256];

    if (json_is_array(value)) {
        check_device_list(value, pointer, problems);
    } else if (!json_is_object(value) || json_object_size(value) == 0) {
        problems_add(problems, pointer,
                     "must be an array of device numbers, or an object with such an "
                     "array for each node");
        return;
    }
    json_object_foreach (value, node, list) {
        spec_child_pointer(at, sizeof(at), pointer, node);
        check_device_list(list, at, problems);
    }
}

const json_t *run_spec_devices_of(const struct run_spec *spec, const char *node)
{
    return json_is_object(spec->devices) ? json_object_get(spec->devices, node)
                                         : spec->devices;
}

void spec_check_path(json_t *value, const char *pointer, struct problems *problems)
{
    if (json_string_value(value)[0] != '/')
        problems_add(problems, pointer, "must be an absolute path");
}

static void check_traffic(const struct run_spec *spec, const json_t *body,
                          struct problems *problems)
{
    uint64_t most = traffic_matrix_most(&spec->traffic);

    if (json_object_get(body, "traffic") && !has_collective(spec, COLLECTIVE_ALLTOALLV))
        problems_add(problems, "/traffic",
                     "applies only to alltoallv, which is not among the collectives");
    else if (!spec->traffic.matrix)
        return;
    else if (spec->n_sizes != 1 || spec->n_collectives != 1)
        problems_add(problems, "/traffic",
                     "with a matrix, a run must have only alltoallv and one size, "
                     "because the matrix sets the bytes");
    else if (spec->sizes[0] < most)
        problems_add(problems, "/sizes",
                     "must be at least %llu, the largest number of bytes in the traffic "
                     "matrix for one rank",
                     (unsigned long long)most);
}

void run_spec_check_ranks(const struct run_spec *spec, const json_t *body,
                          struct problems *problems)
{
    bool has_lib = spec->nccl_lib || json_object_get(spec->matrix, "nccl_lib");

    if (spec->program.name && has_lib)
        problems_add(problems, "/matrix/nccl_lib",
                     "applies only to collectives, but this run starts a program");
    if (spec->nccl_lib && json_object_get(spec->matrix, "nccl_lib"))
        problems_add(problems, "/matrix/nccl_lib",
                     "is also set for the whole run, as nccl_lib");
    check_traffic(spec, body, problems);
}
