/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - the document on standard input, from which a case's ranks are started
 *
 *     {"name": "run R case 3",               for the log; NULL: a probe
 *      "path", "argv": [...], "cwd",         the program; cwd may be absent
 *      "env": ["NAME=VALUE", ...],           all of it
 *      "ranks": [{"rank", "env": {NAME: VALUE or null}, "nccl_log"}, ...],
 *      "files": {PATH: text or JSON value},  written before the first rank starts
 *      "artifacts": {NAME: PATH},            sent as events `artifact` at the end
 *      "program": {"metrics": [...], "timeout_s"},  absent: ranks are workers
 *      "hides_info",                         NCCL's lines below warnings are left out
 *      "has_peers",                          other nodes have ranks of the case
 *      "conditions": {"cpus", "bind", "is_alone"}}  (conditions.h); absent: not wanted
 */
#ifndef RINGBENCH_AGENT_CASE_LAUNCH_H
#define RINGBENCH_AGENT_CASE_LAUNCH_H

#include <jansson.h>

#include "agent/case/rank.h"
#include "common/base/error.h"

struct launch;

/* Understand the document (borrowed for good) and write its files. `ends`: the tree and
 * what is called. NULL with the reason. */
struct launch *launch_create(json_t *document, const struct rank_params *ends,
                             struct error *err);

size_t launch_total(const struct launch *launch);

/* Ranks that have not been started yet. */
size_t launch_left(const struct launch *launch);

/* Start the next one; NULL with the reason. */
struct rank *launch_next(struct launch *launch, struct error *err);

/* Send the artifacts that there are. */
void launch_send_artifacts(const struct launch *launch);

#endif
