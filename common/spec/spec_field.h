/* SPDX-License-Identifier: Apache-2.0 */
/* spec_field.h - parses and shows fields of the run spec, each described by an entry of a
 * table. An entry contains the field's name, default, uses, place in struct run_spec,
 * range and description. Parsing, the effective spec, the case file, the comparison of
 * runs, the release and the schema in openapi.json are derived from the entries.
 * tests/unit/test_spec_docs.c compares the docs with them. */
#ifndef RINGBENCH_COMMON_SPEC_SPEC_FIELD_H
#define RINGBENCH_COMMON_SPEC_SPEC_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/problem.h"
#include "common/spec/run_spec.h"
#include "common/spec/spec_value.h"

enum spec_use {
    SPEC_MEASUREMENT = 1, /* for measurements of collectives: unused for a program */
    SPEC_CASE = 2,        /* for workers: the field is part of the case file */
    SPEC_SETTING = 4,     /* reported with results if it differs from the default */
    SPEC_HIDDEN = 8,      /* for tests: the field is omitted from messages */
    SPEC_REQUIRED = 16,   /* the member is mandatory */
    /* How runs that differ in the field are compared; each field of a run spec has one of
     * these uses: */
    SPEC_SHAPES =
        32, /* the field affects figures, so the runs are not comparable (likeness.h) */
    SPEC_SHOWN = 64, /* the runs are comparable, and the difference is shown */
    SPEC_APART = 128 /* the field does not affect figures, or is compared together with
                        the figures */
};

struct spec_field {
    const char *name;
    const char *usual; /* the default, as JSON; NULL: none */
    unsigned uses;     /* flags of enum spec_use */
    const struct spec_kind *kind;
    size_t offset;      /* offset of the value in struct run_spec */
    long min, max;      /* limits for a number, a text's bytes, or the number of names */
    double least, most; /* limits for a number that may be fractional */
    const char *const *choices; /* allowed words; ends with NULL */
    const struct spec_names *names;
    size_t count_offset; /* offset of the number of names, a size_t */
    const struct spec_fields *members;
    spec_check *check;
    const char *about;  /* description in openapi.json; or NULL */
    const char *option; /* letter and name of nccl-tests' option (client/); or NULL */
};

struct spec_fields {
    const struct spec_field *at;
    size_t count;
    const char *what; /* "an object such as ...", for messages */
};

/* A kind of field, which determines how a value is parsed, shown and released. */
struct spec_kind {
    /* Set the field, or add errors. pointer: the value's JSON pointer. */
    void (*parse)(const struct spec_field *field, json_t *value, struct run_spec *spec,
                  const char *pointer, struct problems *problems);
    /* Return a new reference to a value that parse() would accept to the same effect. */
    json_t *(*show)(const struct spec_field *field, const struct run_spec *spec);
    /* Return true if the field has a value to show; NULL: always. */
    bool (*is_said)(const struct spec_field *field, const struct run_spec *spec);
    /* NULL: the field owns nothing. */
    void (*release)(const struct spec_field *field, struct run_spec *spec);
};

/* Kinds, by the type of their member in struct run_spec: */
extern const struct spec_kind spec_integer; /* long; 0 is unset if there is no default */
extern const struct spec_kind spec_real;    /* double */
/* long: a number, or 0 for the only word in `choices` */
extern const struct spec_kind spec_word_or_integer;
extern const struct spec_kind spec_size;    /* uint64_t, bytes */
extern const struct spec_kind spec_boolean; /* bool */
extern const struct spec_kind spec_choice;  /* an enum: the index in `choices` */
extern const struct spec_kind spec_list;    /* an array of enums, and its length */
extern const struct spec_kind spec_name;    /* int: the index in `names`; not shown */
/* char array of ID_RUN_LENGTH + 1 bytes; not shown */
extern const struct spec_kind spec_run_id;
extern const struct spec_kind spec_text;    /* char *, checked by `check` if set */
extern const struct spec_kind spec_json;    /* json_t * as given, if `check` allows it */
extern const struct spec_kind spec_members; /* an object with its own table of members */

/* Initializers for the last members of a table entry, one for each kind. SPEC_AT is for
 * all other kinds. */
#define SPEC_AT(member) .offset = offsetof(struct run_spec, member)
#define SPEC_INTEGER(member, least, most)                                                \
    .kind = &spec_integer, SPEC_AT(member), .min = (least), .max = (most)
#define SPEC_REAL(member, low, high)                                                     \
    .kind = &spec_real, SPEC_AT(member), .least = (low), .most = (high)
#define SPEC_WORD_OR_INTEGER(member, word, low, high)                                    \
    .kind = &spec_word_or_integer, SPEC_AT(member), .choices = (word), .min = (low),     \
    .max = (high)
#define SPEC_SIZE(member) .kind = &spec_size, SPEC_AT(member)
#define SPEC_BOOLEAN(member) .kind = &spec_boolean, SPEC_AT(member)
#define SPEC_CHOICE(member, words)                                                       \
    .kind = &spec_choice, SPEC_AT(member), .choices = (words)
#define SPEC_LIST(member, known, least)                                                  \
    .kind = &spec_list, SPEC_AT(member), .min = (least), .names = (known),               \
    .count_offset = offsetof(struct run_spec, n_##member)
#define SPEC_TEXT(member, bytes, checker)                                                \
    .kind = &spec_text, SPEC_AT(member), .max = (bytes), .check = (checker)
#define SPEC_JSON(member, checker) .kind = &spec_json, SPEC_AT(member), .check = (checker)
#define SPEC_MEMBERS(fields) .kind = &spec_members, .members = (fields)
#define SPEC_OWN(own) .kind = &(own)

/* Set the fields that have all of the `uses`, each from the object's member or else from
 * its default. Other members of the object are ignored. */
void spec_fields_read(const struct spec_fields *fields, unsigned uses,
                      const json_t *object, struct run_spec *spec, const char *pointer,
                      struct problems *problems);
/* Set all fields of another struct, to which the fields' offsets refer. Adds a problem
 * for each unknown member, or if the value is not an object. */
void spec_fields_read_into(const struct spec_fields *fields, json_t *object, void *into,
                           const char *pointer, struct problems *problems);
/* Add a problem for each unknown member. */
void spec_fields_refuse_others(const struct spec_fields *fields, json_t *object,
                               const char *pointer, struct problems *problems);
/* Return an object of the fields that have a value to show, all uses in `with` and no use
 * in `without`. The result is a new reference. */
json_t *spec_fields_show(const struct spec_fields *fields, const struct run_spec *spec,
                         unsigned with, unsigned without);
void spec_fields_release(const struct spec_fields *fields, struct run_spec *spec);

/* Return a pointer to the field's value in the spec. */
void *spec_field_at(const struct spec_field *field, struct run_spec *spec);
const void *spec_field_of(const struct spec_field *field, const struct run_spec *spec);

#endif
