/* SPDX-License-Identifier: Apache-2.0 */
/* spec_field.c - parses and shows fields of the run spec, each described by an entry of a
 * table */
#include "common/spec/spec_field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/ids.h"
#include "common/base/memory.h"

void *spec_field_at(const struct spec_field *field, struct run_spec *spec)
{
    return (char *)spec + field->offset;
}

const void *spec_field_of(const struct spec_field *field, const struct run_spec *spec)
{
    return (const char *)spec + field->offset;
}

static void parse_integer(const struct spec_field *field, json_t *value,
                          struct run_spec *spec, const char *pointer,
                          struct problems *problems)
{
    spec_parse_integer(value, field->min, field->max, spec_field_at(field, spec), pointer,
                       problems);
}

static json_t *show_integer(const struct spec_field *field, const struct run_spec *spec)
{
    const long *value = spec_field_of(field, spec);

    return json_integer(*value);
}

static bool integer_is_said(const struct spec_field *field, const struct run_spec *spec)
{
    const long *value = spec_field_of(field, spec);

    return *value != 0 || (field->usual && field->min <= 0);
}

const struct spec_kind spec_integer = {parse_integer, show_integer, integer_is_said,
                                       NULL};

static void parse_real(const struct spec_field *field, json_t *value,
                       struct run_spec *spec, const char *pointer,
                       struct problems *problems)
{
    double number = json_number_value(value), *out = spec_field_at(field, spec);

    if (!json_is_number(value))
        problems_add(problems, pointer, "must be a number from %g to %g, not %s",
                     field->least, field->most, spec_type_name(value));
    else if (!(number >= field->least && number <= field->most))
        problems_add(problems, pointer, "must be from %g to %g, not %g", field->least,
                     field->most, number);
    else
        *out = number;
}

/* Show whole numbers without a fraction: 2, not 2.0. */
static json_t *show_real(const struct spec_field *field, const struct run_spec *spec)
{
    const double *value = spec_field_of(field, spec);
    bool is_whole = !(*value < floor(*value)) && !(*value > floor(*value));

    return is_whole ? json_integer((json_int_t)*value) : json_real(*value);
}

const struct spec_kind spec_real = {parse_real, show_real, NULL, NULL};

static void parse_word_or_integer(const struct spec_field *field, json_t *value,
                                  struct run_spec *spec, const char *pointer,
                                  struct problems *problems)
{
    const char *word = field->choices[0], *text = json_string_value(value);
    long *number = spec_field_at(field, spec);

    if (text && strcmp(text, word) == 0)
        *number = 0;
    else if (json_is_integer(value))
        spec_parse_integer(value, field->min, field->max, number, pointer, problems);
    else
        problems_add(problems, pointer, "must be \"%s\" or an integer from %ld to %ld",
                     word, field->min, field->max);
}

static json_t *show_word_or_integer(const struct spec_field *field,
                                    const struct run_spec *spec)
{
    const long *number = spec_field_of(field, spec);

    return *number ? json_integer(*number) : json_string(field->choices[0]);
}

const struct spec_kind spec_word_or_integer = {parse_word_or_integer,
                                               show_word_or_integer, NULL, NULL};

static void parse_size(const struct spec_field *field, json_t *value,
                       struct run_spec *spec, const char *pointer,
                       struct problems *problems)
{
    uint64_t *bytes = spec_field_at(field, spec);

    *bytes = spec_parse_size(value, pointer, problems);
}

static json_t *show_size(const struct spec_field *field, const struct run_spec *spec)
{
    const uint64_t *bytes = spec_field_of(field, spec);

    return json_integer((json_int_t)*bytes);
}

const struct spec_kind spec_size = {parse_size, show_size, NULL, NULL};

static void parse_boolean(const struct spec_field *field, json_t *value,
                          struct run_spec *spec, const char *pointer,
                          struct problems *problems)
{
    bool *is_so = spec_field_at(field, spec);

    if (!json_is_boolean(value))
        problems_add(problems, pointer, "must be true or false");
    *is_so = json_is_true(value);
}

static json_t *show_boolean(const struct spec_field *field, const struct run_spec *spec)
{
    const bool *is_so = spec_field_of(field, spec);

    return json_boolean(*is_so);
}

const struct spec_kind spec_boolean = {parse_boolean, show_boolean, NULL, NULL};

static void parse_choice(const struct spec_field *field, json_t *value,
                         struct run_spec *spec, const char *pointer,
                         struct problems *problems)
{
    const char *text = json_string_value(value);
    int *place = spec_field_at(field, spec);
    struct buf known;

    for (int i = 0; text && field->choices[i]; i++) {
        if (strcmp(text, field->choices[i]) == 0) {
            *place = i;
            return;
        }
    }
    buf_init(&known, 256);
    for (int i = 0; field->choices[i]; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", field->choices[i]);
    problems_add(problems, pointer, "must be one of %s", known.data ? known.data : "");
    buf_release(&known);
}

static json_t *show_choice(const struct spec_field *field, const struct run_spec *spec)
{
    const int *place = spec_field_of(field, spec);

    return json_string(field->choices[*place]);
}

const struct spec_kind spec_choice = {parse_choice, show_choice, NULL, NULL};

static void parse_name(const struct spec_field *field, json_t *value,
                       struct run_spec *spec, const char *pointer,
                       struct problems *problems)
{
    const char *text = json_string_value(value);
    int *out = spec_field_at(field, spec), found = text ? field->names->lookup(text) : -1;

    if (found >= 0)
        *out = found;
    else
        problems_add(problems, pointer, "must be a name such as %s",
                     field->names->name(0));
}

const struct spec_kind spec_name = {.parse = parse_name};

static void parse_run_id(const struct spec_field *field, json_t *value,
                         struct run_spec *spec, const char *pointer,
                         struct problems *problems)
{
    const char *text = json_string_value(value);

    if (text && strlen(text) == ID_RUN_LENGTH)
        snprintf(spec_field_at(field, spec), ID_RUN_LENGTH + 1, "%s", text);
    else
        problems_add(problems, pointer, "must be the id of a run");
}

const struct spec_kind spec_run_id = {.parse = parse_run_id};

static void parse_list(const struct spec_field *field, json_t *value,
                       struct run_spec *spec, const char *pointer,
                       struct problems *problems)
{
    size_t *count = (size_t *)(void *)((char *)spec + field->count_offset);

    if (field->min == 0 && json_is_array(value) && json_array_size(value) == 0)
        return;
    *count = spec_parse_names(value, field->names, spec_field_at(field, spec), pointer,
                              problems);
}

static json_t *show_list(const struct spec_field *field, const struct run_spec *spec)
{
    const size_t *count =
        (const size_t *)(const void *)((const char *)spec + field->count_offset);
    const int *values = spec_field_of(field, spec);
    json_t *list = json_array();

    for (size_t i = 0; i < *count; i++)
        json_array_append_new(list, json_string(field->names->name(values[i])));
    return list;
}

const struct spec_kind spec_list = {parse_list, show_list, NULL, NULL};

static void parse_text(const struct spec_field *field, json_t *value,
                       struct run_spec *spec, const char *pointer,
                       struct problems *problems)
{
    size_t before = problems->count;

    spec_parse_string(value, (size_t)field->max, spec_field_at(field, spec), pointer,
                      problems);
    if (field->check && problems->count == before)
        field->check(value, pointer, problems);
}

static json_t *show_text(const struct spec_field *field, const struct run_spec *spec)
{
    char *const *text = spec_field_of(field, spec);

    return json_string(*text);
}

static bool text_is_said(const struct spec_field *field, const struct run_spec *spec)
{
    char *const *text = spec_field_of(field, spec);

    return *text != NULL;
}

static void release_text(const struct spec_field *field, struct run_spec *spec)
{
    char **text = spec_field_at(field, spec);

    free(*text);
}

const struct spec_kind spec_text = {parse_text, show_text, text_is_said, release_text};

static void parse_json(const struct spec_field *field, json_t *value,
                       struct run_spec *spec, const char *pointer,
                       struct problems *problems)
{
    size_t before = problems->count;
    json_t **kept = spec_field_at(field, spec);

    if (field->check)
        field->check(value, pointer, problems);
    if (problems->count > before)
        return;
    json_decref(*kept);
    *kept = json_incref(value);
}

static json_t *show_json(const struct spec_field *field, const struct run_spec *spec)
{
    json_t *const *kept = spec_field_of(field, spec);

    return json_incref(*kept);
}

static bool json_is_said(const struct spec_field *field, const struct run_spec *spec)
{
    json_t *const *kept = spec_field_of(field, spec);

    return *kept != NULL;
}

static void release_json(const struct spec_field *field, struct run_spec *spec)
{
    json_t **kept = spec_field_at(field, spec);

    json_decref(*kept);
}

const struct spec_kind spec_json = {parse_json, show_json, json_is_said, release_json};

static void parse_members(const struct spec_field *field, json_t *value,
                          struct run_spec *spec, const char *pointer,
                          struct problems *problems)
{
    spec_fields_read_into(field->members, value, spec, pointer, problems);
}

static json_t *show_members(const struct spec_field *field, const struct run_spec *spec)
{
    return spec_fields_show(field->members, spec, 0, 0);
}

static bool is_said(const struct spec_field *field, const struct run_spec *spec)
{
    return !field->kind->is_said || field->kind->is_said(field, spec);
}

static bool members_are_said(const struct spec_field *field, const struct run_spec *spec)
{
    for (size_t i = 0; i < field->members->count; i++)
        if (is_said(&field->members->at[i], spec))
            return true;
    return false;
}

static void release_members(const struct spec_field *field, struct run_spec *spec)
{
    spec_fields_release(field->members, spec);
}

const struct spec_kind spec_members = {parse_members, show_members, members_are_said,
                                       release_members};

/* Parse a default in the same way as a given value. */
static void take_usual(const struct spec_field *field, struct run_spec *spec,
                       const char *pointer, struct problems *problems)
{
    json_t *usual = json_loads(field->usual, JSON_DECODE_ANY, NULL);

    if (!usual)
        memory_out("a spec");
    field->kind->parse(field, usual, spec, pointer, problems);
    json_decref(usual);
}

void spec_fields_read(const struct spec_fields *fields, unsigned uses,
                      const json_t *object, struct run_spec *spec, const char *pointer,
                      struct problems *problems)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct spec_field *field = &fields->at[i];
        json_t *value = json_object_get(object, field->name);
        char at[256];

        if ((field->uses & uses) != uses)
            continue;
        spec_child_pointer(at, sizeof(at), pointer, field->name);
        if (value)
            field->kind->parse(field, value, spec, at, problems);
        else if (field->usual)
            take_usual(field, spec, at, problems);
        else if (field->uses & SPEC_REQUIRED)
            problems_add(problems, at, "is required");
    }
}

/* The cast is valid because the kinds of fields access the struct only by the offsets of
 * its members. */
void spec_fields_read_into(const struct spec_fields *fields, json_t *object, void *into,
                           const char *pointer, struct problems *problems)
{
    if (!json_is_object(object)) {
        problems_add(problems, pointer, "must be %s, not %s", fields->what,
                     spec_type_name(object));
        return;
    }
    spec_fields_read(fields, 0, object, into, pointer, problems);
    spec_fields_refuse_others(fields, object, pointer, problems);
}

static bool is_known(const struct spec_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->at[i].name, name) == 0)
            return true;
    return false;
}

void spec_fields_refuse_others(const struct spec_fields *fields, json_t *object,
                               const char *pointer, struct problems *problems)
{
    struct buf known;
    const char *key;
    json_t *value;

    buf_init(&known, 1024);
    for (size_t i = 0; i < fields->count; i++)
        if (!(fields->at[i].uses & SPEC_HIDDEN))
            buf_printf(&known, "%s%s", i ? ", " : "", fields->at[i].name);
    json_object_foreach (object, key, value) {
        char at[256];

        if (is_known(fields, key))
            continue;
        spec_child_pointer(at, sizeof(at), pointer, key);
        problems_add(problems, at, "unknown field '%.60s'; known are %s", key,
                     known.data ? known.data : "");
    }
    buf_release(&known);
}

json_t *spec_fields_show(const struct spec_fields *fields, const struct run_spec *spec,
                         unsigned with, unsigned without)
{
    json_t *out = json_object();

    for (size_t i = 0; i < fields->count; i++) {
        const struct spec_field *field = &fields->at[i];

        if ((field->uses & with) == with && !(field->uses & without) &&
            is_said(field, spec))
            json_object_set_new(out, field->name, field->kind->show(field, spec));
    }
    return out;
}

void spec_fields_release(const struct spec_fields *fields, struct run_spec *spec)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->at[i].kind->release)
            fields->at[i].kind->release(&fields->at[i], spec);
}
