/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - ringbench-agent */
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/agent.h"
#include "agent/config/config.h"
#include "common/base/log.h"

static int run(const struct agent_config *config)
{
    struct error err;
    int status;

    log_init("ringbench-agent", config->log_level);
    /* Exit with status 0. After a failure mpirun would end the first process, too. */
    if (config->not_first_by) {
        log_info("exiting because %s is %s: the first process offers node %s. To offer "
                 "another node, give this process a --name",
                 config->not_first_by, getenv(config->not_first_by), config->name);
        return 0;
    }
    /* With both signals ignored, a failing write returns an error. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    status = agent_run(config, &err);
    if (status)
        fprintf(stderr, "ringbench-agent: %s\n", err.text);
    return status;
}

int main(int argc, char **argv)
{
    struct agent_config config;
    struct error err;
    int result;

    if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
        fprintf(stderr, "ringbench-agent: cannot initialize libcurl\n");
        return 1;
    }
    result = agent_config_load(&config, argc, argv, &err);
    if (result < 0)
        fprintf(stderr, "ringbench-agent: %s\n", err.text);
    else if (result == 0)
        result = run(&config);
    else
        result = 0;
    agent_config_release(&config);
    curl_global_cleanup();
    return result ? 1 : 0;
}
