/* SPDX-License-Identifier: Apache-2.0 */
/* threshold.c - parses and validates the named checks in a run spec */
#include "common/spec/threshold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/spec/bands.h"
#include "common/spec/run_spec_parts.h"

#define POINTER_MAX 256

/* Reserved names: the check of every run, and the check for `baseline`. */
static const char *const reserved[] = {"completed", "baseline", NULL};

static const char *const figures[] = {"time_us", "algbw_gbs", "busbw_gbs", "dip_percent",
                                      "ranks",   "wrong",     "metric",    NULL};
static const char *const uses[] = {"median", "mean", "min", "max", "last", NULL};

/* Bits above enum spec_use: the figures for which a member is valid. */
#define OF(figure) (256u << (figure))
#define OF_ROWS                                                                          \
    (OF(THRESHOLD_TIME_US) | OF(THRESHOLD_ALGBW_GBS) | OF(THRESHOLD_BUSBW_GBS) |         \
     OF(THRESHOLD_DIP_PERCENT))
#define OF_ALL                                                                           \
    (OF_ROWS | OF(THRESHOLD_RANKS) | OF(THRESHOLD_WRONG) | OF(THRESHOLD_METRIC))
#define OF_BOUNDED_BELOW (OF_ALL & ~(OF(THRESHOLD_DIP_PERCENT) | OF(THRESHOLD_WRONG)))

const char *threshold_figure_name(enum threshold_figure figure)
{
    return figures[figure];
}

const char *threshold_use_name(enum threshold_use use)
{
    return uses[use];
}

bool threshold_is_of_rows(enum threshold_figure figure)
{
    return OF(figure) & OF_ROWS;
}

/* ---- The kinds of members ---- */

static void parse_number(const struct spec_field *field, json_t *value,
                         struct run_spec *spec, const char *pointer,
                         struct problems *problems)
{
    double *number = spec_field_at(field, spec);

    if (json_is_number(value))
        *number = json_number_value(value);
    else
        problems_add(problems, pointer, "must be a number, not %s",
                     spec_type_name(value));
}

static void parse_one_name(const struct spec_field *field, json_t *value,
                           struct run_spec *spec, const char *pointer,
                           struct problems *problems)
{
    const char *text = json_string_value(value);
    int found = text ? field->names->lookup(text) : -1;
    int *kept = spec_field_at(field, spec);

    if (found < 0)
        problems_add(problems, pointer, "must be the name of a %s", field->name);
    else
        *kept = found;
}

static void parse_in_place(const struct spec_field *field, json_t *value,
                           struct run_spec *spec, const char *pointer,
                           struct problems *problems)
{
    int *kept = spec_field_at(field, spec);

    if (json_is_boolean(value))
        *kept = json_is_true(value);
    else
        problems_add(problems, pointer, "must be true or false");
}

static void parse_size(const struct spec_field *field, json_t *value,
                       struct run_spec *spec, const char *pointer,
                       struct problems *problems)
{
    uint64_t *range = spec_field_at(field, spec);

    range[0] = range[1] = spec_parse_size(value, pointer, problems);
}

static void parse_borrowed(const struct spec_field *field, json_t *value,
                           struct run_spec *spec, const char *pointer,
                           struct problems *problems)
{
    const char **text = spec_field_at(field, spec);

    *text = json_string_value(value);
    if (!*text)
        problems_add(problems, pointer, "must be a string, not %s",
                     spec_type_name(value));
}

static const struct spec_kind number = {.parse = parse_number};
static const struct spec_kind one_name = {.parse = parse_one_name};
static const struct spec_kind in_place = {.parse = parse_in_place};
static const struct spec_kind size = {.parse = parse_size};
static const struct spec_kind borrowed = {.parse = parse_borrowed};

/* ---- The table ---- */

#define AT(member) .offset = offsetof(struct threshold, member)

/* clang-format off */
static const struct spec_field range_table[] = {
    {"min", NULL, 0, .kind = &spec_size, AT(size_range[0])},
    {"max", NULL, 0, .kind = &spec_size, AT(size_range[1])},
};

static const struct spec_fields range_fields = {range_table, 2, "an object of min, max or both"};

static const struct spec_field table[] = {
    {"figure", NULL, SPEC_REQUIRED | OF_ALL, .kind = &spec_choice, AT(figure), .choices = figures},
    {"min", NULL, OF_BOUNDED_BELOW, .kind = &number, AT(min)},
    {"max", NULL, OF_ALL, .kind = &number, AT(max)},
    {"collective", NULL, OF_ROWS, .kind = &one_name, AT(collective), .names = &spec_collective_names},
    {"dtype", NULL, OF_ROWS, .kind = &one_name, AT(dtype), .names = &spec_dtype_names},
    {"redop", NULL, OF_ROWS, .kind = &one_name, AT(redop), .names = &spec_redop_names},
    {"in_place", NULL, OF_ROWS, .kind = &in_place, AT(in_place)},
    {"size", NULL, OF_ROWS, .kind = &size, AT(size_range)},
    {"sizes", NULL, OF_ROWS, .kind = &spec_members, .members = &range_fields},
    {"band", NULL, OF_ROWS, .kind = &spec_choice, AT(band), .choices = band_names},
    {"metric", NULL, OF(THRESHOLD_METRIC), .kind = &borrowed, AT(metric)},
    {"use", "\"median\"", OF(THRESHOLD_METRIC), .kind = &spec_choice, AT(use), .choices = uses},
};
/* clang-format on */

static const struct spec_fields fields = {table, sizeof(table) / sizeof(table[0]),
                                          "an object with a figure and its bounds"};

const struct spec_fields *threshold_fields(void)
{
    return &fields;
}

/* ---- Checks between members ---- */

static void refuse_foreign(const struct threshold *threshold, const json_t *value,
                           const char *pointer, struct problems *problems)
{
    char at[POINTER_MAX];

    for (size_t i = 0; i < fields.count; i++) {
        if (!json_object_get(value, table[i].name) ||
            table[i].uses & OF(threshold->figure))
            continue;
        spec_child_pointer(at, sizeof(at), pointer, table[i].name);
        problems_add(problems, at, "does not apply to the figure %s",
                     figures[threshold->figure]);
    }
}

static void check_bounds(const struct threshold *threshold, const char *pointer,
                         struct problems *problems)
{
    bool is_metric = threshold->figure == THRESHOLD_METRIC;

    if (isinf(threshold->min) && isinf(threshold->max))
        problems_add(problems, pointer, "needs a bound: %s",
                     table[1].uses & OF(threshold->figure) ? "min, max or both" : "max");
    else if (threshold->min > threshold->max)
        problems_add(problems, pointer, "min must not be above max");
    else if (!is_metric &&
             (threshold->max < 0.0 || (isfinite(threshold->min) && threshold->min < 0.0)))
        problems_add(problems, pointer, "%s is never below 0",
                     figures[threshold->figure]);
}

static void check_sizes(const struct threshold *threshold, const json_t *value,
                        const char *pointer, struct problems *problems)
{
    int ways = (json_object_get(value, "size") != NULL) +
               (json_object_get(value, "sizes") != NULL) +
               (json_object_get(value, "band") != NULL);

    if (ways > 1)
        problems_add(
            problems, pointer,
            "contains more than one of size, sizes and band; give only one of them");
    else if (threshold->size_range[0] > threshold->size_range[1])
        problems_add(problems, pointer, "sizes: min must not be above max");
}

static void check_name(const char *name, const char *pointer, struct problems *problems)
{
    size_t length = strlen(name);

    if (length == 0 || length > THRESHOLD_NAME_MAX)
        problems_add(problems, pointer, "a check's name must have 1 to %d bytes",
                     THRESHOLD_NAME_MAX);
    else
        spec_check_name(name, pointer, problems);
    for (size_t i = 0; reserved[i]; i++)
        if (strcmp(name, reserved[i]) == 0)
            problems_add(problems, pointer, "is the name of a built-in check");
}

bool threshold_read(const char *name, json_t *value, struct threshold *out,
                    const char *pointer, struct problems *problems)
{
    size_t before = problems->count;

    *out = (struct threshold){.name = name,
                              .figure = THRESHOLD_FIGURES,
                              .min = -HUGE_VAL,
                              .max = HUGE_VAL,
                              .collective = -1,
                              .dtype = -1,
                              .redop = -1,
                              .in_place = -1,
                              .band = -1,
                              .size_range = {0, UINT64_MAX}};
    check_name(name, pointer, problems);
    spec_fields_read_into(&fields, value, out, pointer, problems);
    if (problems->count > before)
        return false;
    if (out->figure == THRESHOLD_WRONG && isinf(out->max))
        out->max = 0.0;
    if (out->figure == THRESHOLD_METRIC && !out->metric)
        problems_add(problems, pointer, "needs the name of its metric");
    refuse_foreign(out, value, pointer, problems);
    check_bounds(out, pointer, problems);
    check_sizes(out, value, pointer, problems);
    return problems->count == before;
}

void threshold_check(json_t *value, const char *pointer, struct problems *problems)
{
    const char *name;
    json_t *member;

    if (!json_is_object(value) || json_object_size(value) > THRESHOLDS_MAX) {
        problems_add(problems, pointer, "must be an object of at most %d checks by name",
                     THRESHOLDS_MAX);
        return;
    }
    json_object_foreach (value, name, member) {
        struct threshold threshold;
        char at[POINTER_MAX];

        spec_child_pointer(at, sizeof(at), pointer, name);
        threshold_read(name, member, &threshold, at, problems);
    }
}

/* ---- Checks against the run ---- */

static void refuse(const char *pointer, const char *member, struct problems *problems,
                   const char *why)
{
    char at[POINTER_MAX];

    spec_child_pointer(at, sizeof(at), pointer, member);
    problems_add(problems, at, "%s", why);
}

/* Return true if a value is among those that the run measures. Enums are read as ints. */
static bool is_among(int value, const void *list, size_t n)
{
    const int *values = list;
    bool is_there = value < 0;

    for (size_t i = 0; i < n; i++)
        is_there = is_there || values[i] == value;
    return is_there;
}

static void check_rows(const struct run_spec *spec, const struct threshold *threshold,
                       const char *pointer, struct problems *problems)
{
    if (spec->program.name) {
        refuse(pointer, "figure", problems,
               "applies to collectives, but this run measures none");
        return;
    }
    if (!is_among(threshold->collective, spec->collectives, spec->n_collectives))
        refuse(pointer, "collective", problems, "is not measured by this run");
    if (!is_among(threshold->dtype, spec->dtypes, spec->n_dtypes))
        refuse(pointer, "dtype", problems, "is not measured by this run");
    if (!is_among(threshold->redop, spec->redops, spec->n_redops))
        refuse(pointer, "redop", problems, "is not measured by this run");
    if ((threshold->in_place == 1 && !spec->in_place) ||
        (threshold->in_place == 0 && !spec->out_of_place))
        refuse(pointer, "in_place", problems, "is not measured by this run");
    for (size_t i = 0; i < spec->n_sizes; i++)
        if (threshold_has_size(threshold, spec->sizes[i]))
            return;
    problems_add(problems, pointer, "covers no size that this run measures");
}

bool threshold_has_size(const struct threshold *threshold, uint64_t bytes)
{
    return threshold->size_range[0] <= bytes && bytes <= threshold->size_range[1];
}

void threshold_check_spec(const struct run_spec *spec, struct problems *problems)
{
    const char *name;
    json_t *member;

    json_object_foreach (spec->thresholds, name, member) {
        struct threshold threshold;
        char at[POINTER_MAX];

        spec_child_pointer(at, sizeof(at), "/thresholds", name);
        if (!threshold_read(name, member, &threshold, at, problems))
            continue;
        if (threshold_is_of_rows(threshold.figure))
            check_rows(spec, &threshold, at, problems);
        else if (threshold.figure == THRESHOLD_WRONG && spec->program.name)
            refuse(at, "figure", problems,
                   "applies to collectives, but this run measures none");
        else if (threshold.figure == THRESHOLD_WRONG && spec->check == 0)
            refuse(at, "figure", problems, "cannot be counted, because check is 0");
        else if (threshold.figure == THRESHOLD_METRIC && !spec->program.name)
            refuse(at, "figure", problems,
                   "applies to programs, but this run starts none");
    }
}
