/* SPDX-License-Identifier: Apache-2.0 */
/* beside.h - what is installed beside the program that runs */
#ifndef RINGBENCH_COMMON_BASE_BESIDE_H
#define RINGBENCH_COMMON_BASE_BESIDE_H

#include <limits.h>

/* DIR/name, DIR being where this program is. Returns -1 if that is not known, or no path.
 */
int beside_program(const char *name, char path[PATH_MAX]);

#endif
