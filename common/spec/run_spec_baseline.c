/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec_baseline.c - parses the reference with which a run is compared */
#include "common/spec/run_spec_parts.h"

const char *const run_likeness_names[] = {
    [LIKE_NODES] = "nodes", [LIKE_HARDWARE] = "hardware", NULL};

static const struct spec_field table[] = {
    {"last", NULL, 0, SPEC_INTEGER(baseline.last, RUN_SPEC_LAST_MIN, RUN_SPEC_LAST_MAX),
     .about = "number of latest similar runs; absent: the newest accepted baseline"},
    {"like", "\"nodes\"", 0, SPEC_CHOICE(baseline.like, run_likeness_names),
     .about = "likeness that the latest runs need: same nodes or same hardware; an "
              "accepted baseline stores its own"},
};

const struct spec_fields spec_baseline_fields = {table, sizeof(table) / sizeof(table[0]),
                                                 "an object"};

static void parse_baseline(const struct spec_field *field, json_t *value,
                           struct run_spec *spec, const char *pointer,
                           struct problems *problems)
{
    spec_members.parse(field, value, spec, pointer, problems);
    spec->baseline.given = json_incref(value);
}

static json_t *show_baseline(const struct spec_field *field, const struct run_spec *spec)
{
    (void)field;
    return json_incref(spec->baseline.given);
}

static bool baseline_is_said(const struct spec_field *field, const struct run_spec *spec)
{
    (void)field;
    return spec->baseline.given != NULL;
}

static void release_baseline(const struct spec_field *field, struct run_spec *spec)
{
    (void)field;
    json_decref(spec->baseline.given);
}

const struct spec_kind spec_baseline = {parse_baseline, show_baseline, baseline_is_said,
                                        release_baseline};
