/* run_spec_control.c - what a run asks of the control series */
#include <stdio.h>
#include <string.h>

#include "common/spec/run_spec_parts.h"

static const char *control_name_at(int i)
{
    return control_name((enum control_kind)i);
}

static const struct spec_names names = {control_lookup, control_name_at, CONTROL_COUNT};

static void parse_series(const struct spec_field *field, json_t *value,
                         struct run_spec *spec, const char *pointer,
                         struct problems *problems)
{
    int found[CONTROL_COUNT];
    size_t n = spec_parse_names(value, field->names, found, pointer, problems);

    spec->control.kinds = 0;
    for (size_t i = 0; i < n; i++)
        spec->control.kinds |= 1u << found[i];
}

static json_t *show_series(const struct spec_field *field, const struct run_spec *spec)
{
    json_t *series = json_array();

    for (int kind = 0; kind < CONTROL_COUNT; kind++) {
        if (spec->control.kinds & (1u << kind) &&
            json_array_append_new(series, json_string(field->names->name(kind)))) {
            json_decref(series);
            return NULL;
        }
    }
    return series;
}

static const struct spec_kind series = {parse_series, show_series, NULL, NULL};

static const struct spec_field table[] = {
    {"series", "[\"barrier\",\"gather_object\",\"chunks\"]", 0, SPEC_OWN(series),
     .names = &names},
    {"bytes", "67108864", SPEC_SHAPES, SPEC_SIZE(control.bytes)},
    {"pieces", "1000", SPEC_SHAPES, SPEC_INTEGER(control.pieces, 1, CONTROL_PIECES_MAX)},
    {"object_bytes", "64", SPEC_SHAPES,
     SPEC_INTEGER(control.object_bytes, 1, CONTROL_OBJECT_BYTES_MAX)},
    {"iters", "200", 0, SPEC_INTEGER(control.iters, 1, CONTROL_ITERS_MAX)},
};

const struct spec_fields spec_control_fields = {
    table, sizeof(table) / sizeof(table[0]),
    "true, false, an array of names or an object"};

static void parse_control(const struct spec_field *field, json_t *value,
                          struct run_spec *spec, const char *pointer,
                          struct problems *problems)
{
    struct control_plan *plan = &spec->control;
    char at[256];

    (void)field;
    if (!json_is_boolean(value) && !json_is_array(value) && !json_is_object(value))
        problems_add(problems, pointer, "must be %s, not %s", spec_control_fields.what,
                     spec_type_name(value));
    /* What is no object has no members: they are as usual. */
    spec_fields_read(&spec_control_fields, 0, value, spec, pointer, problems);
    if (json_is_object(value))
        spec_fields_refuse_others(&spec_control_fields, value, pointer, problems);
    else if (json_is_array(value))
        parse_series(&table[0], value, spec, pointer, problems);
    else if (json_is_false(value))
        plan->kinds = 0;
    snprintf(at, sizeof(at), "%s/pieces", pointer);
    if (plan->bytes && plan->pieces &&
        plan->bytes / (uint64_t)plan->pieces < sizeof(float))
        problems_add(problems, at, "leaves less than 4 bytes for each piece");
}

/* false, or everything about it. */
static json_t *show_control(const struct spec_field *field, const struct run_spec *spec)
{
    (void)field;
    return spec->control.kinds ? spec_fields_show(&spec_control_fields, spec, 0, 0)
                               : json_false();
}

const struct spec_kind spec_control = {parse_control, show_control, NULL, NULL};
