/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - runs the agent from its registration to its deregistration */
#ifndef RINGBENCH_AGENT_AGENT_H
#define RINGBENCH_AGENT_AGENT_H

#include "agent/config/config.h"
#include "common/base/error.h"

/* Run until the agent leaves. Returns the exit status and, unless it is 0, the reason in
 * *err. The caller has called curl_global_init. */
int agent_run(const struct agent_config *config, struct error *err);

#endif
