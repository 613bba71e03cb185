/* SPDX-License-Identifier: Apache-2.0 */
/* variables.h - unknown environment variables with our prefix */
#ifndef RINGBENCH_COMMON_BASE_VARIABLES_H
#define RINGBENCH_COMMON_BASE_VARIABLES_H

#include <stdio.h>

#include "common/base/options.h"

/* Write the name of an option's variable, such as RINGBENCH_DATA_DIR. */
void option_variable(const struct option *option, char out[OPTION_VARIABLE_MAX]);

/* Print a line on `out` for each RINGBENCH_ variable that is neither an option in `table`
 * nor used by another of our programs. */
void variables_check(FILE *out, const char *program, const struct option *table);

#endif
