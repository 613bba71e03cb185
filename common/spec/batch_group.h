/* batch_group.h - names of node groups that batch jobs make, such as slurm-8123 */
#ifndef RINGBENCH_COMMON_SPEC_BATCH_GROUP_H
#define RINGBENCH_COMMON_SPEC_BATCH_GROUP_H

#include <stdbool.h>

/* Whether its nodes go with their job. NULL is no group. */
bool batch_group(const char *group);

#endif
