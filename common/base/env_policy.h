/* SPDX-License-Identifier: Apache-2.0 */
/* env_policy.h - decides which environment variables a run may set for its workers. The
 * server checks a request, and the agent checks again before it starts the workers. */
#ifndef RINGBENCH_COMMON_BASE_ENV_POLICY_H
#define RINGBENCH_COMMON_BASE_ENV_POLICY_H

enum env_policy {
    ENV_POLICY_ALLOW,   /* any user who may start a run may set the variable */
    ENV_POLICY_CONSENT, /* a run may set the variable only if the node's configuration
                           lists it */
    ENV_POLICY_REFUSE   /* no run may set the variable */
};

#define ENV_POLICY_NAME_MAX 128

/* Judge a variable's name. *reason (borrowed, static; may be NULL) is set unless the
 * result is ENV_POLICY_ALLOW. It is a predicate that follows the name, such as "makes the
 * library load code". The server rejects ENV_POLICY_REFUSE and forwards
 * ENV_POLICY_CONSENT, because only the node knows whether it consents. */
enum env_policy env_policy_check(const char *name, const char **reason);

#endif
