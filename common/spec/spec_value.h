/* SPDX-License-Identifier: Apache-2.0 */
/* spec_value.h - checks the values in a run spec and in agents' reports. Each error is
 * added with its JSON pointer. */
#ifndef RINGBENCH_COMMON_SPEC_SPEC_VALUE_H
#define RINGBENCH_COMMON_SPEC_SPEC_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/problem.h"

/* Check a value and add its errors. */
typedef void spec_check(json_t *value, const char *pointer, struct problems *problems);

spec_check spec_check_object, spec_check_labels;

/* Set *out from a value of the right type and range, or add a problem. */
void spec_parse_integer(const json_t *value, long min, long max, long *out,
                        const char *pointer, struct problems *problems);
void spec_parse_string(const json_t *value, size_t max, char **out, const char *pointer,
                       struct problems *problems);
/* Parse a size: a string with a suffix, or an integer. If it is invalid, add a problem
 * and return 0. */
uint64_t spec_parse_size(const json_t *value, const char *pointer,
                         struct problems *problems);

/* Names of an enum, numbered from 0; lookup returns -1 for an unknown name. */
struct spec_names {
    int (*lookup)(const char *name);
    const char *(*name)(int value);
    int count;
};

/* Parse a list of distinct names into out[0..names->count). Return their number. */
size_t spec_parse_names(const json_t *value, const struct spec_names *names, int *out,
                        const char *pointer, struct problems *problems);

/* Return true if the text is valid as a name, a label or a similar text. Otherwise add a
 * problem that states the rejected character (clean_text_fault) and return false. */
bool spec_check_name(const char *text, const char *pointer, struct problems *problems);
/* Add a problem unless the value is a text that an environment variable can contain. */
void spec_check_env_value(const json_t *value, const char *pointer,
                          struct problems *problems);

/* Return the value's type for messages: "an object", "a string", ... */
const char *spec_type_name(const json_t *value);
/* Write "POINTER/KEY" with the key escaped as in RFC 6901, truncated to `size`. */
void spec_child_pointer(char *out, size_t size, const char *pointer, const char *key);

#endif
