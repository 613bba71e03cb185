/* SPDX-License-Identifier: Apache-2.0 */
/* clean_text.h - makes foreign bytes safe for JSON, terminals and logs, and checks names.
 * "Special" characters are invisible but affect a terminal or a line reader: controls
 * (C0, DEL, C1), line separators, direction marks, zero-width spaces, tags and
 * noncharacters. */
#ifndef RINGBENCH_COMMON_BASE_CLEAN_TEXT_H
#define RINGBENCH_COMMON_BASE_CLEAN_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

bool clean_text_is_special(uint32_t code);

/* Append data, replacing NUL and each byte outside a valid UTF-8 sequence with U+FFFD.
 * Return -1 if the buffer is full. */
int clean_text_append(struct buf *out, const char *data, size_t len);

/* Return data as a new JSON string, cleaned as by clean_text_append(). */
json_t *clean_text_json(const char *data, size_t len);

/* Append data in displayable form. Special characters become \n, \r or \u001b, and bytes
 * that are not UTF-8 become \xff; tabs stay. Return -1 if the buffer was too small for
 * all bytes. */
int clean_text_show(struct buf *out, const char *data, size_t len);

/* Write the text of clean_text_show() to `out`, NUL-terminated and truncated to `size`
 * bytes (at least 1) without splitting a character. Return its length. */
size_t clean_text_copy(char *out, size_t size, const char *data, size_t len);

/* Return a new reference to the value with clean_text_show() applied to every key and
 * string. With keeps_lines, newlines stay too. */
json_t *clean_text_shown(json_t *value, bool keeps_lines);

#define CLEAN_TEXT_FAULT_MAX 12

/* Return true if the text must not be part of a name. `fault` then identifies the
 * rejected character, such as "U+202E". A byte that is not valid UTF-8 is identified as
 * "byte FF". */
bool clean_text_fault(const char *text, char fault[CLEAN_TEXT_FAULT_MAX]);

#endif
