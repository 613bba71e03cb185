/* SPDX-License-Identifier: Apache-2.0 */
/* problem.h - collects errors in the caller's input, each with its JSON pointer (RFC
 * 6901), and makes the problem document (RFC 9457) that reports them */
#ifndef RINGBENCH_COMMON_BASE_PROBLEM_H
#define RINGBENCH_COMMON_BASE_PROBLEM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

#define PROBLEMS_MAX 50

struct problems {
    size_t count;   /* number of all errors, including those that are not stored */
    json_t *errors; /* array of {"pointer", "detail"} with at most PROBLEMS_MAX entries */
};

void problems_init(struct problems *problems);
void problems_release(struct problems *problems);

/* Add an error. pointer: a JSON pointer such as "/sizes/min". The text states the error
 * and a valid alternative. */
void problems_add(struct problems *problems, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add the errors found in the value at `pointer`. */
void problems_add_below(struct problems *problems, const char *pointer,
                        const struct problems *found);

/* Set *err to the first error, "WHERE: /pointer: detail". Returns -1. */
int problems_error(const struct problems *problems, const char *where, struct error *err);

/* Return true if further errors are only counted, so that callers need not format
 * them. */
bool problems_are_full(const struct problems *problems);

/* Return a new problem document {"type","title","status","detail","errors"?}; problems
 * may be NULL. */
json_t *problem_document(int status, const char *detail, const struct problems *problems);

#endif
