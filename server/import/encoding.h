/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.h - a file as UTF-8, whichever encoding it has */
#ifndef RINGBENCH_SERVER_IMPORT_ENCODING_H
#define RINGBENCH_SERVER_IMPORT_ENCODING_H

#include <stddef.h>

#include "common/base/error.h"

/* Drop a byte order mark; turn UTF-16, with a mark or without, into UTF-8, and a
 * container engine's or journald's lines of JSON into what was printed. *text is
 * malloc'd, and is replaced if need be. -1 with err (ERROR_INVALID: UTF-32;
 * ERROR_MEMORY). */
int import_decode(char **text, size_t *len, struct error *err);

#endif
