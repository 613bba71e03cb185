/* SPDX-License-Identifier: Apache-2.0 */
/* program_schema.c - checks the named parameters of a program and their values */
#include "common/spec/program_schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/safe_regex.h"
#include "common/base/units.h"
#include "common/spec/spec_value.h"

#define ENUM_MAX 64
#define DEFAULT_LENGTH_MAX 256
/* Many programs treat an argument that begins with one of these characters as an option
 * or as a file of arguments. */
#define LEADING "-@"

bool program_name_is_valid(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_-.");

    return len > 0 && len <= PROGRAM_NAME_MAX && name[len] == '\0' &&
           strspn(name, "0123456789_-.") == 0;
}

/* The place at which an error is reported. */
struct place {
    const char *pointer;
    struct problems *problems;
};

static void fault(const struct place *place, const char *key, const char *text)
{
    char at[300];

    if (key)
        spec_child_pointer(at, sizeof(at), place->pointer, key);
    problems_add(place->problems, key ? at : place->pointer, "%s", text);
}

/* ---- Values ---- */

static void check_pattern(const char *pattern, const char *text,
                          const struct place *place)
{
    struct error err;
    struct safe_regex *regex = safe_regex_compile(pattern, true, &err);
    enum safe_regex_result result =
        regex ? safe_regex_match(regex, text, strlen(text), NULL, NULL) : SAFE_REGEX_NO;

    if (result == SAFE_REGEX_GAVE_UP)
        problems_add(place->problems, place->pointer,
                     "takes more than %d steps to match against %s", SAFE_REGEX_STEPS_MAX,
                     pattern);
    else if (result == SAFE_REGEX_NO)
        problems_add(place->problems, place->pointer, "must match %s", pattern);
    safe_regex_destroy(regex);
}

/* Return true if a program could interpret the text as an option or a file. */
static bool leads_astray(const json_t *parameter, const char *text)
{
    const char *allowed = json_get_str(parameter, "may_begin_with", "");

    return *text && strchr(LEADING, *text) && !strchr(allowed, *text);
}

static void check_string(const json_t *parameter, const json_t *value,
                         const struct place *place)
{
    const char *text = json_string_value(value);
    const char *pattern = json_get_str(parameter, "pattern", NULL);
    int64_t most = json_get_int(parameter, "max_length", DEFAULT_LENGTH_MAX);

    if (!text || !pattern)
        problems_add(place->problems, place->pointer, "must be a string");
    else if ((int64_t)strlen(text) > most || strlen(text) > PROGRAM_TEXT_MAX)
        problems_add(place->problems, place->pointer, "must be at most %lld bytes",
                     (long long)(most < PROGRAM_TEXT_MAX ? most : PROGRAM_TEXT_MAX));
    else if (!spec_check_name(text, place->pointer, place->problems))
        return;
    else if (leads_astray(parameter, text))
        problems_add(place->problems, place->pointer, "must not begin with %c", *text);
    else
        check_pattern(pattern, text, place);
}

static void check_number(const json_t *parameter, const json_t *value,
                         const struct place *place)
{
    double least = json_get_num(parameter, "min", -HUGE_VAL);
    double most = json_get_num(parameter, "max", HUGE_VAL);
    bool is_integer = strcmp(json_get_str(parameter, "type", ""), "integer") == 0;
    double number = json_number_value(value);

    if (is_integer ? !json_is_integer(value) : !json_is_number(value))
        problems_add(place->problems, place->pointer, "must be %s, not %s",
                     is_integer ? "an integer" : "a number", spec_type_name(value));
    else if (number < least)
        problems_add(place->problems, place->pointer, "must be at least %.15g, not %.15g",
                     least, number);
    else if (number > most)
        problems_add(place->problems, place->pointer, "must be at most %.15g, not %.15g",
                     most, number);
}

static void check_enum(const json_t *parameter, const json_t *value,
                       const struct place *place)
{
    json_t *values = json_object_get(parameter, "values");
    struct buf known;

    for (size_t i = 0; i < json_array_size(values); i++)
        if (json_is_string(value) && json_equal(json_array_get(values, i), value))
            return;
    buf_init(&known, 400);
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *text = json_string_value(json_array_get(values, i));

        buf_printf(&known, "%s%.100s", i ? ", " : "", text ? text : "?");
    }
    problems_add(place->problems, place->pointer, "must be one of %s",
                 known.data ? known.data : "");
    buf_release(&known);
}

static void check_boolean(const json_t *parameter, const json_t *value,
                          const struct place *place)
{
    (void)parameter;
    if (!json_is_boolean(value))
        problems_add(place->problems, place->pointer, "must be true or false, not %s",
                     spec_type_name(value));
}

/* ---- Declarations ---- */

static void declare_string(json_t *parameter, const struct place *place)
{
    const char *pattern = json_get_str(parameter, "pattern", NULL);
    const json_t *most = json_object_get(parameter, "max_length");
    const json_t *leading = json_object_get(parameter, "may_begin_with");
    struct error err;
    struct safe_regex *regex = pattern ? safe_regex_compile(pattern, true, &err) : NULL;

    if (!pattern)
        fault(place, "pattern", "must be a regular expression for the text");
    else if (!regex)
        fault(place, "pattern", err.text);
    safe_regex_destroy(regex);
    if (most && (!json_is_integer(most) || json_integer_value(most) < 1 ||
                 json_integer_value(most) > PROGRAM_TEXT_MAX))
        fault(place, "max_length", "must be an integer from 1 to 4096");
    if (leading &&
        (!json_is_string(leading) ||
         strspn(json_string_value(leading), LEADING) != json_string_length(leading)))
        fault(place, "may_begin_with", "must contain only the characters - and @");
}

static void declare_number(json_t *parameter, const struct place *place)
{
    const json_t *least = json_object_get(parameter, "min");
    const json_t *most = json_object_get(parameter, "max");

    if (!json_is_number(least))
        fault(place, "min", "must be a number, the smallest allowed value");
    if (!json_is_number(most))
        fault(place, "max", "must be a number, the largest allowed value");
    if (json_is_number(least) && json_is_number(most) &&
        json_number_value(least) > json_number_value(most))
        fault(place, "min", "must not be above max");
}

static void declare_enum(json_t *parameter, const struct place *place)
{
    json_t *values = json_object_get(parameter, "values");
    size_t n = json_array_size(values);
    bool is_fine = n > 0 && n <= ENUM_MAX;
    char unfit[CLEAN_TEXT_FAULT_MAX];

    for (size_t i = 0; i < n && is_fine; i++) {
        const char *text = json_string_value(json_array_get(values, i));

        is_fine =
            text && strlen(text) <= DEFAULT_LENGTH_MAX && !clean_text_fault(text, unfit);
    }
    if (!is_fine)
        fault(place, "values", "must be an array of 1 to 64 strings");
}

static void declare_boolean(json_t *parameter, const struct place *place)
{
    (void)parameter;
    (void)place;
}

static const struct kind {
    const char *name;
    void (*declare)(json_t *parameter, const struct place *place);
    void (*check)(const json_t *parameter, const json_t *value,
                  const struct place *place);
    const char *keys; /* keys besides the common ones, separated and enclosed by blanks */
} kinds[] = {
    {"string", declare_string, check_string, " pattern max_length may_begin_with "},
    {"integer", declare_number, check_number, " min max "},
    {"number", declare_number, check_number, " min max "},
    {"enum", declare_enum, check_enum, " values "},
    {"boolean", declare_boolean, check_boolean, ""},
};

static const struct kind *kind_of(const json_t *parameter)
{
    const char *type = json_get_str(parameter, "type", "");

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, type) == 0)
            return &kinds[i];
    return NULL;
}

static bool is_key_of(const struct kind *kind, const char *key)
{
    static const char common[] = " type description default ";
    char word[80];

    if (strlen(key) > 64 || strchr(key, ' '))
        return false;
    snprintf(word, sizeof(word), " %s ", key);
    return strstr(common, word) || strstr(kind->keys, word);
}

static void check_declaration(json_t *parameter, const struct place *place)
{
    const struct kind *kind = kind_of(parameter);
    json_t *description = json_object_get(parameter, "description");
    json_t *fallback = json_object_get(parameter, "default");
    size_t before = place->problems->count;
    const char *key;
    json_t *value;

    if (!json_is_object(parameter)) {
        fault(place, NULL, "must be an object with a type");
        return;
    }
    if (!kind) {
        fault(place, "type", "must be one of string, integer, number, enum, boolean");
        return;
    }
    json_object_foreach (parameter, key, value)
        if (!is_key_of(kind, key))
            fault(place, key, "unknown key for this type of parameter");
    if (description && json_string_length(description) > 1000)
        fault(place, "description", "must be at most 1000 bytes");
    if (description && !json_is_string(description))
        fault(place, "description", "must be a string");
    kind->declare(parameter, place);
    if (fallback && place->problems->count == before) {
        char at[300];
        struct place below = {at, place->problems};

        spec_child_pointer(at, sizeof(at), place->pointer, "default");
        kind->check(parameter, fallback, &below);
    }
}

void program_schema_check(json_t *parameters, const char *pointer,
                          struct problems *problems)
{
    const char *name;
    json_t *parameter;

    if (!json_is_object(parameters) ||
        json_object_size(parameters) > PROGRAM_PARAMETERS_MAX) {
        problems_add(problems, pointer, "must be an object of at most %d parameters",
                     PROGRAM_PARAMETERS_MAX);
        return;
    }
    json_object_foreach (parameters, name, parameter) {
        char at[300];
        struct place place = {at, problems};

        spec_child_pointer(at, sizeof(at), pointer, name);
        if (!program_name_is_valid(name) || strcmp(name, "config_dir") == 0)
            fault(&place, NULL, "is not a valid parameter name");
        check_declaration(parameter, &place);
    }
}

/* ---- Arguments ---- */

static void refuse_unknown(json_t *parameters, const char *name,
                           const struct place *place)
{
    struct buf known;
    const char *other;
    json_t *parameter;
    size_t n = 0;

    buf_init(&known, 400);
    json_object_foreach (parameters, other, parameter)
        buf_printf(&known, "%s%.64s", n++ ? ", " : "", other);
    problems_add(place->problems, place->pointer,
                 "unknown parameter '%.60s'; known parameters are %s", name,
                 known.data ? known.data : "none");
    buf_release(&known);
}

static void add_argument(json_t *out, const char *name, json_t *parameter, json_t *args,
                         const struct place *place)
{
    json_t *value = json_object_get(args, name);
    const struct kind *kind = kind_of(parameter);

    if (!value)
        value = json_object_get(parameter, "default");
    if (!kind) {
        fault(place, NULL, "has an unknown type");
    } else if (!value) {
        fault(place, NULL, "is missing and has no default");
    } else {
        kind->check(parameter, value, place);
        json_object_set(out, name, value);
    }
}

json_t *program_schema_complete(json_t *parameters, json_t *args, const char *pointer,
                                struct problems *problems)
{
    size_t before = problems->count;
    json_t *out = json_object();
    char at[300];
    struct place place = {at, problems};
    const char *name;
    json_t *value;

    if (args && !json_is_object(args)) {
        problems_add(problems, pointer, "must be an object of arguments by name");
        json_decref(out);
        return NULL;
    }
    json_object_foreach (args, name, value) {
        spec_child_pointer(at, sizeof(at), pointer, name);
        if (!json_object_get(parameters, name))
            refuse_unknown(parameters, name, &place);
    }
    json_object_foreach (parameters, name, value) {
        spec_child_pointer(at, sizeof(at), pointer, name);
        add_argument(out, name, value, args, &place);
    }
    if (problems->count > before) {
        json_decref(out);
        return NULL;
    }
    return out;
}

char *program_value_text(const json_t *value)
{
    char text[UNITS_REAL_MAX];

    if (json_is_string(value))
        return memory_text(json_string_value(value), "a parameter");
    if (json_is_real(value))
        units_real_text(json_real_value(value), text);
    else if (json_is_boolean(value))
        snprintf(text, sizeof(text), "%s", json_is_true(value) ? "true" : "false");
    else
        snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
    return memory_text(text, "a parameter");
}
