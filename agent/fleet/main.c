/* main.c - ringbench-sim: a fleet of nodes that are not there */
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "agent/fleet/fleet.h"
#include "agent/fleet/fleet_config.h"
#include "common/base/log.h"

/* A connection for each node, and a second one while it has a case. */
static int raise_file_limit(const struct fleet_config *config, struct error *err)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)config->nodes + FLEET_FILES_KEPT;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= wanted)
        return 0;
    return error_set(err, ERROR_LIMIT,
                     "%ld nodes need %llu open files, but the limit is %llu (ulimit -Hn)",
                     config->nodes, (unsigned long long)wanted,
                     (unsigned long long)limit.rlim_cur);
}

static int run(const struct fleet_config *config)
{
    struct error err;
    int status = 1;

    log_init("ringbench-sim", LOG_WARN);
    /* Comes back as an error of the write instead. */
    signal(SIGPIPE, SIG_IGN);
    if (raise_file_limit(config, &err) == 0)
        status = fleet_run(config, &err);
    if (status)
        fprintf(stderr, "ringbench-sim: %s\n", err.text);
    return status;
}

int main(int argc, char **argv)
{
    struct fleet_config config;
    struct error err;
    int result;

    if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
        fprintf(stderr, "ringbench-sim: can't set up libcurl\n");
        return 1;
    }
    result = fleet_config_load(&config, argc, argv, &err);
    if (result < 0)
        fprintf(stderr, "ringbench-sim: %s\n", err.text);
    else if (result == 0)
        result = run(&config);
    else
        result = 0;
    fleet_config_release(&config);
    curl_global_cleanup();
    return result ? 1 : 0;
}
