/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - starts the ranks of a case from the document on standard input
 *
 *     {"name": "run R case 3",               for the log; absent: a probe
 *      "path", "argv": [...], "cwd",         the program; cwd may be absent
 *      "env": ["NAME=VALUE", ...],           the complete environment
 *      "ranks": [{"rank", "env": {NAME: VALUE or null}, "nccl_log"}, ...],
 *      "files": {PATH: text or JSON value},  written before the first rank starts
 *      "artifacts": {NAME: PATH},            sent as events `artifact` at the end
 *      "program": {"metrics": [...], "timeout_s"},  absent: ranks are workers
 *      "hides_info",                         omit NCCL's log lines below warnings
 *      "has_peers",                          other nodes have ranks of the case
 *      "conditions": {"cpus", "bind", "is_alone"}}  (conditions.h); absent: none sent
 */
#ifndef RINGBENCH_AGENT_CASE_LAUNCH_H
#define RINGBENCH_AGENT_CASE_LAUNCH_H

#include <jansson.h>

#include "agent/case/rank.h"
#include "common/base/error.h"

struct launch;

/* Read the document, which is borrowed until this process exits, and write its `files`.
 * Every rank gets the process tree, event stream and handlers of `ends`. Returns NULL
 * with the reason on failure. */
struct launch *launch_create(json_t *document, const struct rank_params *ends,
                             struct error *err);

size_t launch_total(const struct launch *launch);

size_t launch_left(const struct launch *launch);

struct rank *launch_next(struct launch *launch, struct error *err);

/* Skips artifacts that do not exist. */
void launch_send_artifacts(const struct launch *launch);

#endif
