/* SPDX-License-Identifier: Apache-2.0 */
/* states.h - decides if values fall into two distant states, for example on a machine
 * whose hypervisor switches between two speeds */
#ifndef RINGBENCH_SERVER_ANALYSIS_STATES_H
#define RINGBENCH_SERVER_ANALYSIS_STATES_H

#include <stdbool.h>
#include <stddef.h>

struct states {
    bool found;
    double split; /* values above `split` belong to the upper state */
    double apart; /* distance between the means of the states */
    size_t upper; /* number of values in the upper state */
};

/* Find two states in values, which are logarithms. The division minimizes the sum of
 * squares within the two groups. The groups are states if the gap between them is at
 * least 10 % and at least four times the deviation within the groups. */
void states_find(const double *values, size_t n, struct states *out);

#endif
