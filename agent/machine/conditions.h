/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.h - under which conditions this node runs its ranks of a case: what they are
 * bound to, what the machine did beside them (common/result/conditions.h), and what its
 * network ports carried
 *
 * Looked at before the first rank is started and after the last has ended, never while
 * they measure. */
#ifndef RINGBENCH_AGENT_MACHINE_CONDITIONS_H
#define RINGBENCH_AGENT_MACHINE_CONDITIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct conditions;

/* From now on. cpus: those that the ranks may run on ("0,2-3"); bind: what they are bound
 * to, or NULL where nothing is to be said of that; is_alone: no ranks but these are to be
 * expected on them, so that the rest of their time is others'. It is there until this
 * process ends. */
struct conditions *conditions_begin(const char *cpus, json_t *bind, bool is_alone);

/* A rank has ended: the CPU time that it used, how often it was taken off its core. */
void conditions_add_rank(struct conditions *conditions, int64_t cpu_us,
                         int64_t involuntary);

/* A rank's event `done`: its `clocks` {"cpu_mhz": [first, last], "gpu_mhz": [first,
 * last], "gpu_slowed": true} and its `nvlink_bytes`. Each may be absent. */
void conditions_add_done(struct conditions *conditions, const json_t *done);

/* A new event `conditions` (docs/development/agent-protocol.md): as it began, or with all
 * that came about since. */
json_t *conditions_first_event(const struct conditions *conditions);
json_t *conditions_last_event(struct conditions *conditions);

#endif
