/* SPDX-License-Identifier: Apache-2.0 */
/* param.h - a query parameter as an entry of a table, from which params.c reads a request
 * and openapi_make.c describes the API */
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
    /* Repeatable, at most max times, a struct param_texts. With max 0, the handler reads
     * the values itself. */
    PARAM_TEXTS, /* of `choices`, if set */
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
    size_t offset; /* of the value in the handler's struct */
    int64_t min, max;
    int64_t absent; /* value of an absent integer or choice without default */
    double least, most;
    const char *usual;          /* default, as in a request; NULL: none */
    const char *const *choices; /* ends with NULL */
    const struct spec_names *names;
    const char *schema; /* schema of a text; NULL: any */
    bool is_required;   /* for openapi.json; the handler checks it */
};

/* A format of a resource. */
struct params_format {
    const char *name; /* as in ?format= */
    const char *type; /* media type, as in Accept */
    int value;
};

struct route_params {
    const char *method, *pattern;        /* as in the table of routes */
    const char *type;                    /* the answer's only media type, or: */
    const struct params_format *formats; /* ends with a NULL name */
    const char *format_help;             /* or NULL */
    size_t format_offset;                /* of a const struct params_format * */
    const struct param *list;
    size_t n;
};

#endif
