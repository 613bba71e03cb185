/* variables.h - variables of the environment that look like ours and mean nothing */
#ifndef RINGBENCH_COMMON_BASE_VARIABLES_H
#define RINGBENCH_COMMON_BASE_VARIABLES_H

#include <stdio.h>

#include "common/base/options.h"

/* The variable that stands for an option: RINGBENCH_DATA_DIR. */
void option_variable(const struct option *option, char out[OPTION_VARIABLE_MAX]);

/* A line on `out` for each RINGBENCH_ variable that is neither an option in `table` nor
 * meant for another program of ours: with the option that was meant, where one is much
 * like it. */
void variables_check(FILE *out, const char *program, const struct option *table);

#endif
