/* SPDX-License-Identifier: Apache-2.0 */
/* spec_field.h - a field of the run spec, or of an object in it, as one entry of a table
 *
 * An entry has the field's name, default, uses, place in struct run_spec, range and
 * description. Parsing, the effective spec, the case file, the comparison of runs, the
 * release and the schema in openapi.json come from the entries.
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
    SPEC_MEASUREMENT = 1, /* of collectives: has no meaning for a program */
    SPEC_CASE = 2,        /* of workers: stands in the case file */
    SPEC_SETTING = 4,     /* who reads results is told where it is not as usual */
    SPEC_HIDDEN = 8,      /* of tests: messages do not name it */
    SPEC_REQUIRED = 16,   /* must be given */
    /* How runs that differ in it compare; each field of a run spec has one of these: */
    SPEC_SHAPES = 32, /* it shapes figures: they are not alike (likeness.h) */
    SPEC_SHOWN = 64,  /* they are alike, and the difference is shown */
    SPEC_APART = 128  /* it shapes nothing, or is compared with the figures themselves */
};

struct spec_field {
    const char *name;
    const char *usual; /* the default, as JSON; NULL: none */
    unsigned uses;     /* of enum spec_use */
    const struct spec_kind *kind;
    size_t offset;              /* of the value in struct run_spec */
    long min, max;              /* of a number, of a text's bytes, of how many names */
    double least, most;         /* of a number that may have a fraction */
    const char *const *choices; /* ends with NULL */
    const struct spec_names *names;
    size_t count_offset; /* where the number of names is kept, a size_t */
    const struct spec_fields *members;
    spec_check *check;
    const char *about;  /* its description in openapi.json; or NULL */
    const char *option; /* letter and name of nccl-tests' option (client/); or NULL */
};

struct spec_fields {
    const struct spec_field *at;
    size_t count;
    const char *what; /* "an object such as ...", for messages */
};

/* A kind of field. */
struct spec_kind {
    /* Set the field, or add what is wrong. The pointer is the value's. */
    void (*parse)(const struct spec_field *field, json_t *value, struct run_spec *spec,
                  const char *pointer, struct problems *problems);
    /* What would be parsed to the same; a new reference. */
    json_t *(*show)(const struct spec_field *field, const struct run_spec *spec);
    /* Whether there is something to show; NULL: always. */
    bool (*is_said)(const struct spec_field *field, const struct run_spec *spec);
    /* NULL: the field owns nothing. */
    void (*release)(const struct spec_field *field, struct run_spec *spec);
};

/* By what they keep in struct run_spec: */
extern const struct spec_kind spec_integer; /* long; 0 is unset if there is no default */
extern const struct spec_kind spec_real;    /* double */
/* long: a number, or 0 for the word that is the only one of `choices` */
extern const struct spec_kind spec_word_or_integer;
extern const struct spec_kind spec_size;    /* uint64_t, bytes */
extern const struct spec_kind spec_boolean; /* bool */
extern const struct spec_kind spec_choice;  /* an enum: the place in `choices` */
extern const struct spec_kind spec_list;    /* an array of enums, and how many */
extern const struct spec_kind spec_name;    /* int: the place in `names`; not shown */
extern const struct spec_kind spec_run_id;  /* ID_RUN_LENGTH + 1 bytes; not shown */
extern const struct spec_kind spec_text; /* char *, checked by `check` if there is one */
extern const struct spec_kind spec_json; /* json_t * as given, if `check` allows it */
extern const struct spec_kind spec_members; /* an object's members, each by itself */

/* The end of an entry: of each of these kinds, and of one that knows its own place. */
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
 * its default. Other members of the object are left alone. */
void spec_fields_read(const struct spec_fields *fields, unsigned uses,
                      const json_t *object, struct run_spec *spec, const char *pointer,
                      struct problems *problems);
/* The same into another struct, which the fields' offsets are of; all of them. Also add a
 * problem for each other member, or for what is no object. */
void spec_fields_read_into(const struct spec_fields *fields, json_t *object, void *into,
                           const char *pointer, struct problems *problems);
/* Add a problem for each member that is no field. */
void spec_fields_refuse_others(const struct spec_fields *fields, json_t *object,
                               const char *pointer, struct problems *problems);
/* An object of the fields that have all of the uses `with` and none of `without`, as far
 * as they are said. A new reference. */
json_t *spec_fields_show(const struct spec_fields *fields, const struct run_spec *spec,
                         unsigned with, unsigned without);
void spec_fields_release(const struct spec_fields *fields, struct run_spec *spec);

/* The field's place in the spec. */
void *spec_field_at(const struct spec_field *field, struct run_spec *spec);
const void *spec_field_of(const struct spec_field *field, const struct run_spec *spec);

#endif
