/* node_setting.h - what NCCL finds on a node when it looks up one of its variables
 *
 * The run's, else that of the environment that workers get of the agent, of which a run
 * rids them by null, else of the node's files (NCCL 2.28, src/misc/param.cc). */
#ifndef RINGBENCH_SERVER_ANALYSIS_NODE_SETTING_H
#define RINGBENCH_SERVER_ANALYSIS_NODE_SETTING_H

#include <jansson.h>

/* The value, borrowed; NULL: nowhere. env: of the run, or NULL. *where (or NULL): what
 * stands behind the variable in a sentence: "" of the run's, else " of nccl.conf", ... */
const char *node_setting(const json_t *inventory, const json_t *env, const char *name,
                         const char **where);

#endif
