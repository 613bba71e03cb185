/* SPDX-License-Identifier: Apache-2.0 */
/* launch_case.c - runs the workers of a case without server and agent
 *
 * usage: launch_case WORKER CASE_FILE WORLD_SIZE [PER_HOST]
 *
 * Copies the workers' events to stdout, one per line after "RANK ". PER_HOST ranks
 * form one simulated host. Exits with 0 if every worker does. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/worker_group.h"

#define QUIET_MS 60000

static void print_line(void *arg, int rank, const char *line, size_t len)
{
    (void)arg;
    printf("%d %.*s\n", rank, (int)len, line);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct worker_group group;
    int worst = 0;

    int n = argc > 3 ? atoi(argv[3]) : 0, per_host = argc > 4 ? atoi(argv[4]) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: launch_case WORKER CASE_FILE WORLD_SIZE [PER_HOST]\n");
        return 2;
    }
    if (worker_group_start(&group, argv[1], argv[2], n, per_host))
        return 2;
    worst = worker_group_read(&group, QUIET_MS, NULL, print_line, NULL);
    for (int rank = 0; rank < n; rank++)
        worst |= group.workers[rank].status != 0;
    worker_group_end(&group);
    return worst;
}
