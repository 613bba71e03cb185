/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec_sizes.c - expands the sizes of a run, given as a range or a list */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/spec/run_spec_parts.h"

static int add_size(struct run_spec *spec, uint64_t bytes)
{
    if (spec->n_sizes >= RUN_SPEC_SIZES_MAX)
        return -1;
    spec->sizes[spec->n_sizes++] = bytes;
    return 0;
}

static void too_many_sizes(const char *pointer, struct problems *problems)
{
    problems_add(problems, pointer, "must give at most %d sizes", RUN_SPEC_SIZES_MAX);
}

static void expand_factor(struct run_spec *spec, uint64_t min, uint64_t max,
                          uint64_t factor)
{
    for (uint64_t size = min; size <= max; size *= factor)
        /* sizes are at most 1 TiB, so a range doubles at most 40 times, and its sizes fit
         * in the array */
        add_size(spec, size);
}

static void expand_step(struct run_spec *spec, uint64_t min, uint64_t max, uint64_t step,
                        const char *pointer, struct problems *problems)
{
    for (uint64_t size = min; size <= max; size += step) {
        if (add_size(spec, size)) {
            too_many_sizes(pointer, problems);
            return;
        }
    }
}

static void parse_size_list(struct run_spec *spec, json_t *value, const char *pointer,
                            struct problems *problems)
{
    char at[64];

    if (json_array_size(value) == 0)
        problems_add(problems, pointer, "must list at least one size");
    for (size_t i = 0; i < json_array_size(value); i++) {
        uint64_t bytes;

        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        bytes = spec_parse_size(json_array_get(value, i), at, problems);
        if (bytes && add_size(spec, bytes)) {
            too_many_sizes(pointer, problems);
            return;
        }
    }
}

static void parse_size_range(struct run_spec *spec, json_t *value,
                             struct problems *problems)
{
    const json_t *step = json_object_get(value, "step");
    const json_t *factor = json_object_get(value, "factor");
    uint64_t min = 8, max = UINT64_C(128) << 20;
    size_t before = problems->count;
    uint64_t by = 0;
    long times = 2;
    const char *key;
    json_t *member;

    json_object_foreach (value, key, member) {
        char at[128];

        spec_child_pointer(at, sizeof(at), "/sizes", key);
        if (strcmp(key, "min") == 0)
            min = spec_parse_size(member, at, problems);
        else if (strcmp(key, "max") == 0)
            max = spec_parse_size(member, at, problems);
        else if (strcmp(key, "step") == 0)
            by = spec_parse_size(member, at, problems);
        else if (strcmp(key, "factor") == 0)
            spec_parse_integer(member, 2, 1024, &times, at, problems);
        else
            problems_add(problems, at,
                         "unknown field '%.60s'; known are min, max, factor, step", key);
    }
    if (step && factor)
        problems_add(problems, "/sizes", "give either factor or step, not both");
    if (problems->count > before)
        return;
    if (min > max) {
        problems_add(problems, "/sizes/min", "must not be above max (%llu)",
                     (unsigned long long)max);
        return;
    }
    if (step)
        expand_step(spec, min, max, by, "/sizes/step", problems);
    else
        expand_factor(spec, min, max, (uint64_t)times);
}

static void parse_sizes(const struct spec_field *field, json_t *value,
                        struct run_spec *spec, const char *pointer,
                        struct problems *problems)
{
    uint64_t *fewer;

    (void)field;
    spec->sizes = memory_zeroed(RUN_SPEC_SIZES_MAX, sizeof(*spec->sizes), "sizes");
    if (json_is_array(value))
        parse_size_list(spec, value, pointer, problems);
    else if (json_is_object(value))
        parse_size_range(spec, value, problems);
    else
        problems_add(
            problems, pointer,
            "must be {\"min\",\"max\",\"factor\" or \"step\"} or a list of sizes, "
            "not %s",
            spec_type_name(value));
    /* Free unused memory, since thousands of specs may be queued. */
    fewer = realloc(spec->sizes, (spec->n_sizes + 1) * sizeof(*spec->sizes));
    if (fewer)
        spec->sizes = fewer;
}

static json_t *show_sizes(const struct spec_field *field, const struct run_spec *spec)
{
    json_t *sizes = json_array();

    (void)field;
    for (size_t i = 0; i < spec->n_sizes; i++)
        json_array_append_new(sizes, json_integer((json_int_t)spec->sizes[i]));
    return sizes;
}

static void release_sizes(const struct spec_field *field, struct run_spec *spec)
{
    (void)field;
    free(spec->sizes);
}

const struct spec_kind spec_sizes = {parse_sizes, show_sizes, NULL, release_sizes};
