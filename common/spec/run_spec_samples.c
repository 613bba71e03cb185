/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec_samples.c - parses the limits for the number of blocks in a row */
#include <stdio.h>

#include "common/spec/run_spec_parts.h"

#define BLOCKS_MAX 10000

static const struct spec_field table[] = {
    {"min", "8", 0, SPEC_INTEGER(samples.min, 1, BLOCKS_MAX),
     .about = "minimum number of blocks"},
    {"max", "100", 0, SPEC_INTEGER(samples.max, 1, BLOCKS_MAX),
     .about = "maximum number of blocks"},
    {"rel", "0.02", 0, SPEC_REAL(samples.rel, 0.0001, 1),
     .about =
         "blocks end when half the 95 % interval is within this share of the median"},
    {"max_s", "0.1", 0, SPEC_REAL(samples.max_s, 0.001, 3600),
     .about = "time after which no block beyond the minimum begins, seconds"},
};

const struct spec_fields spec_samples_fields = {table, sizeof(table) / sizeof(table[0]),
                                                "an object"};

static void parse_samples(const struct spec_field *field, json_t *value,
                          struct run_spec *spec, const char *pointer,
                          struct problems *problems)
{
    const struct run_samples *samples = &spec->samples;
    size_t before = problems->count;
    char at[64];

    spec_members.parse(field, value, spec, pointer, problems);
    snprintf(at, sizeof(at), "%s/min", pointer);
    if (problems->count == before && samples->min > samples->max)
        problems_add(problems, at, "must not be above max, %ld", samples->max);
}

static json_t *show_samples(const struct spec_field *field, const struct run_spec *spec)
{
    return spec_members.show(field, spec);
}

const struct spec_kind spec_samples = {parse_samples, show_samples, NULL, NULL};
