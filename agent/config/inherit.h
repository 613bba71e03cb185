/* SPDX-License-Identifier: Apache-2.0 */
/* inherit.h - the variables that workers and programs inherit from the agent
 *
 * Workers and programs inherit variables that the site's software needs, but nothing that
 * looks like a secret. This keeps secrets out of a run's output. The filter is not a
 * security boundary, because all processes run as the agent's user. */
#ifndef RINGBENCH_AGENT_CONFIG_INHERIT_H
#define RINGBENCH_AGENT_CONFIG_INHERIT_H

#include <stdbool.h>

#include "agent/config/env_list.h"
#include "common/base/options.h"

/* True if a variable is inherited. `added` lists the administrator's names (--pass-env).
 * An entry PREFIX* adds no variable that looks like a secret. */
bool inherit_passes(const char *name, const struct option_list *added);

/* Copy the inherited variables of a NULL-terminated environment. A variable that is not
 * UTF-8 is logged and not copied, because ringbench-case gets the environment as JSON. */
void inherit_environment(struct env_list *out, char *const *environment,
                         const struct option_list *added);

/* Log the names of inherited and of other variables, but no values. */
void inherit_log(const struct env_list *passed, char *const *environment);

#endif
