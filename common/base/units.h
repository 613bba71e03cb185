/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - parses and formats sizes with suffixes: K, M, G, T are powers of 1024 */
#ifndef RINGBENCH_COMMON_BASE_UNITS_H
#define RINGBENCH_COMMON_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

#define UNITS_TEXT_MAX 32
#define UNITS_REAL_MAX 40

/* Parse a size such as "8", "64K", "1.5M" or "128MiB" into bytes. The result must be a
 * whole number. */
int units_parse_size(const char *text, uint64_t *bytes, struct error *err);

/* Format a size in its shortest exact spelling, such as "64K" for 65536 and "100" for
 * 100. Return `text`. */
const char *units_format_size(uint64_t bytes, char text[UNITS_TEXT_MAX]);

/* Format a size for prose with one to four digits, such as "1.5 GiB". Return `text`. */
const char *units_format_human(uint64_t bytes, char text[UNITS_TEXT_MAX]);

/* Format a number as the shortest text that parses to the same number. Return `text`. */
const char *units_real_text(double value, char text[UNITS_REAL_MAX]);

#endif
