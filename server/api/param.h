/* SPDX-License-Identifier: Apache-2.0 */
/* param.h - defines a query parameter as a table entry. params.c reads requests with
 * these tables, and openapi_make.c describes the API from them. */
#ifndef RINGBENCH_SERVER_API_PARAM_H
#define RINGBENCH_SERVER_API_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/spec_value.h"

enum param_kind {
    PARAM_INTEGER, /* int64_t */
    PARAM_REAL,    /* double */
    PARAM_FLAG,    /* bool */
    PARAM_CHOICE,  /* an enum: the index in `choices` or `names` */
    PARAM_TEXT,    /* const char *, NULL if absent */
    PARAM_LINE,    /* const char *, 1 to max bytes without line breaks; required */
    PARAM_TIME,    /* int64_t, milliseconds; 0 if absent */
    /* The parameter may repeat, at most `max` times; the value is a struct param_texts.
     * If max is 0, the handler reads the values itself. */
    PARAM_TEXTS, /* each value is one of `choices`, if set */
    PARAM_LABELS /* KEY=VALUE */
};

#define PARAM_TEXTS_MAX 32

struct param_texts {
    const char *at[PARAM_TEXTS_MAX];
    size_t n;
};

struct param {
    const char *name;
    const char *help; /* or NULL */
    enum param_kind kind;
    size_t offset; /* position of the value in the handler's struct */
    int64_t min, max;
    /* value of an absent integer or choice that has no default */
    int64_t absent;
    double least, most;
    const char *usual;          /* default, written as in a request; NULL: none */
    const char *const *choices; /* ends with NULL */
    const struct spec_names *names;
    const char *schema; /* name of the schema of a text; NULL: any text */
    /* shown in openapi.json; the handler checks that the parameter is given */
    bool is_required;
};

/* A format in which a resource is available. */
struct params_format {
    const char *name; /* value of the parameter `format` */
    const char *type; /* media type, as in the header Accept */
    int value;
};

struct route_params {
    const char *method, *pattern; /* as in the table api_routes() */
    const char *type; /* the answer's only media type; NULL if `formats` is set */
    const struct params_format *formats; /* the answer's formats; ends with a NULL name */
    const char *format_help;             /* or NULL */
    /* offset of the handler's member `const struct params_format *` */
    size_t format_offset;
    const struct param *list;
    size_t n;
};

#endif
