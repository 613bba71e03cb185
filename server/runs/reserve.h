/* reserve.h - nodes that are kept for a run; reserved has an item per node of the
 * registry, in its order, and one to spare */
#ifndef RINGBENCH_SERVER_RUNS_RESERVE_H
#define RINGBENCH_SERVER_RUNS_RESERVE_H

#include <stdbool.h>

#include "server/nodes/placement.h"

struct active_run;
struct scheduler;

/* Those that were chosen for a run, or that it waits for. */
void reserve_chosen(const struct scheduler *scheduler, const struct placement *placement,
                    bool *reserved);

/* Those of a placed run that no case occupies right now are its own all the same. */
void reserve_placed(const struct scheduler *scheduler, const struct active_run *active,
                    bool *reserved);

#endif
