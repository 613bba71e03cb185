/* SPDX-License-Identifier: Apache-2.0 */
/* variables.h - warns of unknown environment variables that start with RINGBENCH_ */
#ifndef RINGBENCH_COMMON_BASE_VARIABLES_H
#define RINGBENCH_COMMON_BASE_VARIABLES_H

#include <stdio.h>

#include "common/base/options.h"

/* Write the name of an option's variable, such as RINGBENCH_DATA_DIR. */
void option_variable(const struct option *option, char out[OPTION_VARIABLE_MAX]);

/* Print a warning on `out` for each RINGBENCH_ variable that is neither an option in
 * `table` nor used by another program of ringbench. */
void variables_check(FILE *out, const char *program, const struct option *table);

#endif
