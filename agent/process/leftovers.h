/* SPDX-License-Identifier: Apache-2.0 */
/* leftovers.h - the cases that an agent was killed in */
#ifndef RINGBENCH_AGENT_PROCESS_LEFTOVERS_H
#define RINGBENCH_AGENT_PROCESS_LEFTOVERS_H

#include "agent/link/command.h"
#include "agent/link/spool.h"

typedef void leftovers_case(void *arg, const struct case_id *id);

/* Call fn for every case that had workers, and every one with events in the spool, some
 * of them more than once. Their case files are removed. */
void leftovers_each(const struct spool *spool, leftovers_case *fn, void *arg);

#endif
