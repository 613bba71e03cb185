/* SPDX-License-Identifier: Apache-2.0 */
/* variables.h - variables of the environment that look like ours but are unknown */
#ifndef RINGBENCH_COMMON_BASE_VARIABLES_H
#define RINGBENCH_COMMON_BASE_VARIABLES_H

#include <stdio.h>

#include "common/base/options.h"

/* The variable that stands for an option: RINGBENCH_DATA_DIR. */
void option_variable(const struct option *option, char out[OPTION_VARIABLE_MAX]);

/* Print a line on `out` for each RINGBENCH_ variable that is neither an option in `table`
 * nor meant for another program of ours. */
void variables_check(FILE *out, const char *program, const struct option *table);

#endif
