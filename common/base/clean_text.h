/* SPDX-License-Identifier: Apache-2.0 */
/* clean_text.h - make bytes of others fit for JSON, for a terminal or a log, and tell
 * what may stand in a name. "Special" are the characters that a terminal or a reader of
 * lines acts upon and nobody sees: controls (C0, DEL, C1), line separators, marks of
 * direction, zero-width spaces, tags, and what is no character at all. */
#ifndef RINGBENCH_COMMON_BASE_CLEAN_TEXT_H
#define RINGBENCH_COMMON_BASE_CLEAN_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

bool clean_text_is_special(uint32_t code);

/* Append data with U+FFFD in place of NUL and of each byte that is not part of a valid
 * UTF-8 sequence. -1 when the buffer is full. */
int clean_text_append(struct buf *out, const char *data, size_t len);

/* A new JSON string of data, cleaned likewise. */
json_t *clean_text_json(const char *data, size_t len);

/* Append data as it may be shown: special characters as \n, \r or \u001b, bytes that are
 * no UTF-8 as \xff; tabs stay. Bytes that are left out are so since the buffer is full:
 * -1. */
int clean_text_show(struct buf *out, const char *data, size_t len);

/* The same into out as a NUL-terminated text, cut between characters to fit into `size`
 * bytes (at least 1). Returns its length. */
size_t clean_text_copy(char *out, size_t size, const char *data, size_t len);

/* The value (a new reference) with every key and string in it as clean_text_show has it;
 * with keeps_lines newlines stay, too. */
json_t *clean_text_shown(json_t *value, bool keeps_lines);

#define CLEAN_TEXT_FAULT_MAX 12

/* False if the text may stand in a name; else what may not is in `fault`: "U+202E", or
 * "byte FF" that is no UTF-8. */
bool clean_text_fault(const char *text, char fault[CLEAN_TEXT_FAULT_MAX]);

#endif
