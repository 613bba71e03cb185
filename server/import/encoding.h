/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.h - converts a file of any encoding to UTF-8 */
#ifndef RINGBENCH_SERVER_IMPORT_ENCODING_H
#define RINGBENCH_SERVER_IMPORT_ENCODING_H

#include <stddef.h>

#include "common/base/error.h"

/* Drop a byte order mark. Convert UTF-16, with or without a mark, to UTF-8. Replace JSON
 * lines of a container engine or journald by the text that they contain. *text is
 * malloc'd and may be replaced. -1 with err (ERROR_INVALID) for UTF-32. */
int import_decode(char **text, size_t *len, struct error *err);

#endif
