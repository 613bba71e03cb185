/* SPDX-License-Identifier: Apache-2.0 */
/* env_policy.h - the rule for environment variables that a run may set for its workers.
 * The server applies it to a request, and the agent applies it again before start. */
#ifndef RINGBENCH_COMMON_BASE_ENV_POLICY_H
#define RINGBENCH_COMMON_BASE_ENV_POLICY_H

enum env_policy {
    ENV_POLICY_ALLOW,   /* anyone who may start a run may set it */
    ENV_POLICY_CONSENT, /* only if the node's own configuration lists it */
    ENV_POLICY_REFUSE   /* never */
};

#define ENV_POLICY_NAME_MAX 128

/* Judge a variable's name. *reason (borrowed, static; may be NULL) is set unless the
 * result is ENV_POLICY_ALLOW: a predicate to follow the name, such as "loads code into
 * the worker". The server rejects ENV_POLICY_REFUSE and forwards ENV_POLICY_CONSENT,
 * since only the node knows whether it consents. */
enum env_policy env_policy_check(const char *name, const char **reason);

#endif
