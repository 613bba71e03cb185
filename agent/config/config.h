/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the agent's configuration: its options, the files that they name, and
 * defaults from the host */
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
    /* name of a launcher's variable that shows that another agent of this job offers the
     * node; NULL: this agent offers the node */
    const char *not_first_by;
    struct option_list consented;       /* variables that this node additionally allows */
    struct env_list worker_environment; /* variables that workers inherit */
};

/* Read options, files and environment. Returns 0, 1 after --help or --version, or -1.
 * Release the configuration in any case. */
int agent_config_load(struct agent_config *config, int argc, char **argv,
                      struct error *err);

/* Derive token and server_host from the options server and token_file, and check ca_file.
 * ringbench-sim uses only this part. */
int agent_config_reach(struct agent_config *config, struct error *err);

void agent_config_release(struct agent_config *config);

#endif
