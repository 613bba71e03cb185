/* SPDX-License-Identifier: Apache-2.0 */
/* states.h - whether values fall into two distant states, as on a machine that its
 * hypervisor switches between two speeds */
#ifndef RINGBENCH_SERVER_ANALYSIS_STATES_H
#define RINGBENCH_SERVER_ANALYSIS_STATES_H

#include <stdbool.h>
#include <stddef.h>

struct states {
    bool found;
    double split; /* values above belong to the upper state */
    double apart; /* difference between the means of the states */
    size_t upper; /* values in the upper state */
};

/* Find two states in values, which are logarithms. The two groups minimize the squares
 * within. They are states if the gap between them is at least 10 % and at least four
 * times the deviation within. */
void states_find(const double *values, size_t n, struct states *out);

#endif
