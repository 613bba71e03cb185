/* SPDX-License-Identifier: Apache-2.0 */
/* json_util.h - shorthand for frequent JSON operations */
#ifndef RINGBENCH_COMMON_BASE_JSON_UTIL_H
#define RINGBENCH_COMMON_BASE_JSON_UTIL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/error.h"

/* Return a member's value, or `fallback` if it is absent or has another type. Strings are
 * borrowed from the object. */
const char *json_get_str(const json_t *object, const char *key, const char *fallback);
int64_t json_get_int(const json_t *object, const char *key, int64_t fallback);
double json_get_num(const json_t *object, const char *key, double fallback);
bool json_get_bool(const json_t *object, const char *key, bool fallback);

/* Return the array's first object whose member `key` equals `text`, borrowed, or NULL. A
 * missing or non-string member counts as "". */
json_t *json_find(const json_t *array, const char *key, const char *text);

/* Return true if an array contains the string. A NULL string is never found. */
bool json_has_string(const json_t *array, const char *text);

/* Return a member's time, in the format of clock.h, in milliseconds; 0 if absent. */
int64_t json_get_time(const json_t *object, const char *key);

/* Set a member to a time in the format of clock.h. */
void json_set_time(json_t *object, const char *key, int64_t wall_ms);

/* Parse one JSON text of `len` bytes; duplicate keys and NUL in strings are rejected.
 * Return a new reference, or NULL with the line and column in *err. */
json_t *json_parse(const char *text, size_t len, struct error *err);

/* Return a JSON string for text that was truncated or is foreign. An incomplete last
 * character is dropped, and other bytes that are not UTF-8 become '?'. Return NULL for
 * NULL. */
json_t *json_clean_string(const char *text);

/* Limits for one request besides its size in bytes: parsing and freeing 86,000 names
 * takes as long as sending a thousand small responses. The largest sensible run spec
 * contains 22,000 values: the traffic of 128 ranks, 4,096 sizes, the names of 1,000
 * nodes, and its combinations. */
#define JSON_NAMES_MAX 2048
#define JSON_VALUES_MAX 32768

/* Before parsing, reject a text with more object names or values than these limits
 * (ERROR_LIMIT). The text may be invalid JSON. */
int json_check_extent(const char *text, size_t len, struct error *err);

/* Return a value's compact text, which the caller frees. Fractions are written with 10
 * digits, more than any measured value needs. */
char *json_text(const json_t *value);

/* Append the compact text of a value to `out`; json_line_append adds a newline. Returns
 * -1 if `out` would exceed its limit. */
int json_append(const json_t *value, struct buf *out);
int json_line_append(const json_t *value, struct buf *out);

/* Write a value to a file atomically: a reader sees the old or the new file, never a
 * part. */
int json_write_file(const json_t *value, const char *path, struct error *err);

/* Read and parse a file of at most max bytes. Return a new reference or NULL. */
json_t *json_read_file(const char *path, size_t max, struct error *err);

#endif
