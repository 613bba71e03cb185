/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - what the agent was told: its options, the files they name, and the defaults
 * that it finds on the host */
#ifndef RINGBENCH_AGENT_CONFIG_CONFIG_H
#define RINGBENCH_AGENT_CONFIG_CONFIG_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/config/env_list.h"
#include "common/base/error.h"
#include "common/base/log.h"
#include "common/base/options.h"

struct agent_config {
    /* options */
    char *server, *name, *group, *advertise, *token_file, *ca_file, *spool_dir,
        *config_dir, *worker_dir, *level, *config;
    struct option_list label, nccl_libs, pass_env;
    long ranks, idle_exit; /* idle_exit 0: never */
    bool once;
    /* derived */
    char *token;       /* NULL: none */
    char *server_host; /* host part of the server's URL, without brackets */
    json_t *labels;    /* object of strings */
    enum log_level log_level;
    /* the variable that says that a launcher has started another agent here before this
     * one, which is to offer the node; NULL: it is this one's */
    const char *not_first_by;
    struct option_list consented;       /* variables that this node allows besides */
    struct env_list worker_environment; /* what they inherit of the agent's */
};

/* Read options, files and environment. 0, 1 when --help or --version was answered, or -1.
 * Release it in each case. */
int agent_config_load(struct agent_config *config, int argc, char **argv,
                      struct error *err);

/* The part of it that says how the server is reached: server, token and ca_file are read
 * by then, and token and server_host follow. */
int agent_config_reach(struct agent_config *config, struct error *err);

void agent_config_release(struct agent_config *config);

#endif
