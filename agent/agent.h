/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - the parts of the agent put together, from the first request to the last */
#ifndef RINGBENCH_AGENT_AGENT_H
#define RINGBENCH_AGENT_AGENT_H

#include "agent/config/config.h"
#include "common/base/error.h"

/* Run until the agent leaves. Returns the exit status, with the reason in *err unless it
 * is 0. curl_global_init must have been called. */
int agent_run(const struct agent_config *config, struct error *err);

#endif
