/* SPDX-License-Identifier: Apache-2.0 */
/* node_setting.h - finds the value of an NCCL variable on a node
 *
 * The run's value has priority, then the environment that workers inherit from the agent,
 * then the node's files (NCCL 2.28, src/misc/param.cc). A null in the run unsets the
 * inherited value. */
#ifndef RINGBENCH_SERVER_ANALYSIS_NODE_SETTING_H
#define RINGBENCH_SERVER_ANALYSIS_NODE_SETTING_H

#include <jansson.h>

/* Return the value, borrowed, or NULL if the variable is not set. env: the run's
 * variables, or NULL. *where (or NULL): the place where the value is set, as a suffix for
 * a sentence. The suffix is "" for the run, else for example " in nccl.conf". */
const char *node_setting(const json_t *inventory, const json_t *env, const char *name,
                         const char **where);

#endif
