/* SPDX-License-Identifier: Apache-2.0 */
/* beside.h - finds programs in the same directory as the running program */
#ifndef RINGBENCH_COMMON_BASE_BESIDE_H
#define RINGBENCH_COMMON_BASE_BESIDE_H

#include <limits.h>

/* Write DIR/name to path, where DIR is the running program's directory. Return -1 if DIR
 * is unknown or the path is too long. */
int beside_program(const char *name, char path[PATH_MAX]);

#endif
