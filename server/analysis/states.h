/* states.h - whether values come in two states that lie far apart, as those of a machine
 * do that something else, its hypervisor say, switches between two speeds */
#ifndef RINGBENCH_SERVER_ANALYSIS_STATES_H
#define RINGBENCH_SERVER_ANALYSIS_STATES_H

#include <stdbool.h>
#include <stddef.h>

struct states {
    bool found;
    double split; /* values above are of the upper state */
    double apart; /* the means of the two, as a difference */
    size_t upper; /* values in the upper state */
};

/* Of logarithms. The two groups are those with the least squares within; they count as
 * states if the gap between them is at least a tenth, and four times the deviation
 * within. */
void states_find(const double *values, size_t n, struct states *out);

#endif
