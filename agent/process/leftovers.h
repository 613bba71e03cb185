/* SPDX-License-Identifier: Apache-2.0 */
/* leftovers.h - finds the cases of an earlier agent that was killed */
#ifndef RINGBENCH_AGENT_PROCESS_LEFTOVERS_H
#define RINGBENCH_AGENT_PROCESS_LEFTOVERS_H

#include "agent/link/command.h"
#include "agent/link/spool.h"

typedef void leftovers_case(void *arg, const struct case_id *id);

/* Call fn for every case with a case file or with events in the spool. fn may be called
 * several times for the same case. Removes the case files. */
void leftovers_each(const struct spool *spool, leftovers_case *fn, void *arg);

#endif
