/* SPDX-License-Identifier: Apache-2.0 */
/* inherit.h - what of the agent's own environment its workers and programs get: what the
 * site's software needs, and nothing that looks like a secret
 *
 * It keeps secrets out of the output that a run shows. It is no wall: whatever runs here
 * runs as the agent's user. */
#ifndef RINGBENCH_AGENT_CONFIG_INHERIT_H
#define RINGBENCH_AGENT_CONFIG_INHERIT_H

#include <stdbool.h>

#include "agent/config/env_list.h"
#include "common/base/options.h"

/* added: what the administrator passes on besides, by name, or by a name's beginning and
 * '*', which passes on nothing that looks like a secret. */
bool inherit_passes(const char *name, const struct option_list *added);

/* Copy what is passed on of a NULL-terminated environment. */
void inherit_environment(struct env_list *out, char *const *environment,
                         const struct option_list *added);

/* Log the names that are passed on and those that aren't; never values. */
void inherit_log(const struct env_list *passed, char *const *environment);

#endif
