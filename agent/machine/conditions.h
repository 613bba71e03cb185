/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.h - samples the machine before and after a case: the binding of ranks, other
 * load (common/result/conditions.h) and the bytes of network ports
 *
 * Samples are taken before the first rank starts and after the last one ends, never
 * during a measurement. */
#ifndef RINGBENCH_AGENT_MACHINE_CONDITIONS_H
#define RINGBENCH_AGENT_MACHINE_CONDITIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct conditions;

/* Take the first sample. `cpus` lists the CPUs that the ranks may use ("0,2-3"). `bind`
 * is the event's member `bind`, or NULL. is_alone means that no other ranks use these
 * CPUs, so all other CPU time on them is foreign load. The object is never freed. */
struct conditions *conditions_begin(const char *cpus, json_t *bind, bool is_alone);

/* A rank has ended. `involuntary` counts its involuntary context switches. */
void conditions_add_rank(struct conditions *conditions, int64_t cpu_us,
                         int64_t involuntary);

/* Read a rank's event `done`: `clocks` {"cpu_mhz": [first, last], "gpu_mhz": [first,
 * last], "gpu_slowed": true} and `nvlink_bytes`. Each may be absent. */
void conditions_add_done(struct conditions *conditions, const json_t *done);

/* A new event `conditions` (docs/development/agent-protocol.md): at the start of the
 * case, and with all differences at its end. */
json_t *conditions_first_event(const struct conditions *conditions);
json_t *conditions_last_event(struct conditions *conditions);

#endif
