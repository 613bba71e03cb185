/* SPDX-License-Identifier: Apache-2.0 */
/* env_policy.h - which environment variables a run may set for its workers: the one rule
 * that the server applies to a request and the agent applies again before it starts */
#ifndef RINGBENCH_COMMON_BASE_ENV_POLICY_H
#define RINGBENCH_COMMON_BASE_ENV_POLICY_H

enum env_policy {
    ENV_POLICY_ALLOW,   /* anyone who may start a run may set it */
    ENV_POLICY_CONSENT, /* only where the node's own configuration lists it */
    ENV_POLICY_REFUSE   /* never */
};

#define ENV_POLICY_NAME_MAX 128

/* Judge a variable's name. *reason (borrowed, static; may be NULL) is set unless the
 * answer is ENV_POLICY_ALLOW: half a sentence that goes after the name, such as "loads
 * code into the worker". The server refuses ENV_POLICY_REFUSE and passes
 * ENV_POLICY_CONSENT on, since only the node knows whether it consents. */
enum env_policy env_policy_check(const char *name, const char **reason);

#endif
