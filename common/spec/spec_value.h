/* SPDX-License-Identifier: Apache-2.0 */
/* spec_value.h - the values that stand in a run spec and in what agents tell: each is
 * checked here, and what is wrong is said with its JSON pointer */
#ifndef RINGBENCH_COMMON_SPEC_SPEC_VALUE_H
#define RINGBENCH_COMMON_SPEC_SPEC_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/problem.h"

/* Adds what is wrong with a value. */
typedef void spec_check(json_t *value, const char *pointer, struct problems *problems);

spec_check spec_check_object, spec_check_labels;

/* Set *out from a value of the right type and range, or add a problem. */
void spec_parse_integer(const json_t *value, long min, long max, long *out,
                        const char *pointer, struct problems *problems);
void spec_parse_string(const json_t *value, size_t max, char **out, const char *pointer,
                       struct problems *problems);
/* A size, a string with a suffix or an integer. 0 after adding a problem. */
uint64_t spec_parse_size(const json_t *value, const char *pointer,
                         struct problems *problems);

/* Names of an enum, from 0 on; a lookup gives -1 for others. */
struct spec_names {
    int (*lookup)(const char *name);
    const char *(*name)(int value);
    int count;
};

/* A list of them without repetition, into out[0..names->count); how many there are. */
size_t spec_parse_names(const json_t *value, const struct spec_names *names, int *out,
                        const char *pointer, struct problems *problems);

/* Whether the text may be a name, a label or the like; else add a problem that names the
 * character which may not (clean_text_fault). */
bool spec_check_name(const char *text, const char *pointer, struct problems *problems);
/* Add a problem unless it is text that a variable can hold. */
void spec_check_env_value(const json_t *value, const char *pointer,
                          struct problems *problems);

/* "an object", "a string", ... for messages. */
const char *spec_type_name(const json_t *value);
/* "POINTER/KEY" with the key escaped by RFC 6901, cut to size. */
void spec_child_pointer(char *out, size_t size, const char *pointer, const char *key);

#endif
