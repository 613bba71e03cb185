/* SPDX-License-Identifier: Apache-2.0 */
/* json_util.h - short forms for what we do to JSON all the time */
#ifndef RINGBENCH_COMMON_BASE_JSON_UTIL_H
#define RINGBENCH_COMMON_BASE_JSON_UTIL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/error.h"

/* A member's value, or `fallback` when it is absent or of another type. Strings are
 * borrowed from the object. */
const char *json_get_str(const json_t *object, const char *key, const char *fallback);
int64_t json_get_int(const json_t *object, const char *key, int64_t fallback);
double json_get_num(const json_t *object, const char *key, double fallback);
bool json_get_bool(const json_t *object, const char *key, bool fallback);

/* The first object of an array whose member is `text`; one that has no such string counts
 * as "". Borrowed, or NULL. */
json_t *json_find(const json_t *array, const char *key, const char *text);

/* Whether an array has the string (NULL: no). */
bool json_has_string(const json_t *array, const char *text);

/* A member that is a time as clock.h writes it, in milliseconds; 0 when there is none. */
int64_t json_get_time(const json_t *object, const char *key);

/* Set such a member of the object. */
void json_set_time(json_t *object, const char *key, int64_t wall_ms);

/* Parse one JSON text of `len` bytes (duplicate keys refused, no NUL in strings).
 * Returns a new reference or NULL with the line and column in *err. */
json_t *json_parse(const char *text, size_t len, struct error *err);

/* A string of text that was cut or comes from outside: the rest of a character at its end
 * is left out, other bytes that are not UTF-8 become '?'. NULL for NULL, or when memory
 * is out. */
json_t *json_clean_string(const char *text);

/* What is too much for one request, however few bytes it takes: parsing and freeing
 * 86,000 names takes as long as sending a thousand small answers. The largest run spec
 * that makes sense has 22,000 values: the traffic of 128 ranks, 4,096 sizes, the names of
 * 1,000 nodes, and its combinations. */
#define JSON_NAMES_MAX 2048
#define JSON_VALUES_MAX 32768

/* Refuse (ERROR_LIMIT) a text with more names in its objects or more values than that,
 * before it is parsed. Need not be JSON. */
int json_check_extent(const char *text, size_t len, struct error *err);

/* Compact text of a value, numbers with fractions to 10 digits: more than any of our
 * measurements have. The caller frees it. */
char *json_text(const json_t *value);

/* Append the compact text of a value to `out`; json_line_append adds a newline. Returns
 * -1 if `out` would exceed its limit. */
int json_append(const json_t *value, struct buf *out);
int json_line_append(const json_t *value, struct buf *out);

/* Write value to path so that a reader sees the old or the new file, never half of it. */
int json_write_file(const json_t *value, const char *path, struct error *err);

/* Read and parse a whole file of at most max bytes. Returns a new reference or NULL. */
json_t *json_read_file(const char *path, size_t max, struct error *err);

#endif
