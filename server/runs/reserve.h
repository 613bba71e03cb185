/* reserve.h - nodes that are kept for a run; reserved has an item per node of the
 * registry, in its order, and one to spare */
#ifndef RINGBENCH_SERVER_RUNS_RESERVE_H
#define RINGBENCH_SERVER_RUNS_RESERVE_H

#include "server/nodes/placement.h"

struct active_run;

/* Those that were chosen for a run, or that it waits for, unless they are kept already.
 */
void reserve_chosen(const struct active_run *active, const struct placement *placement,
                    struct reservation *reserved);

/* Those of a placed run that no case occupies right now are its own all the same. */
void reserve_placed(const struct active_run *active, struct reservation *reserved);

#endif
