/* SPDX-License-Identifier: Apache-2.0 */
/* program_schema.h - checks the declarations of a program's named parameters, and
 * validates arguments against them (docs/reference/programs.md) */
#ifndef RINGBENCH_COMMON_SPEC_PROGRAM_SCHEMA_H
#define RINGBENCH_COMMON_SPEC_PROGRAM_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/problem.h"

#define PROGRAM_PARAMETERS_MAX 32
#define PROGRAM_NAME_MAX 64
#define PROGRAM_TEXT_MAX 4096 /* maximum length of a string argument in bytes */

/* Return true if a name is valid for a program, a parameter or a metric: 1 to
 * PROGRAM_NAME_MAX of a-z, A-Z, 0-9, '_', '-' and '.', beginning with a letter. */
bool program_name_is_valid(const char *name);

/* Validate a declaration, an object of parameters by name. */
void program_schema_check(json_t *parameters, const char *pointer,
                          struct problems *problems);

/* Validate arguments (NULL: none) against a declaration, which may be untrusted. Return a
 * new object with every parameter, defaults filled in, or NULL. On failure all errors are
 * added to *problems, with pointers below `pointer`. */
json_t *program_schema_complete(json_t *parameters, json_t *args, const char *pointer,
                                struct problems *problems);

/* Return a value's text for an argument vector; the caller frees it. */
char *program_value_text(const json_t *value);

#endif
