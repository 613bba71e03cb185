/* launch_case.c - run worker processes on a case without server and agent
 *
 * usage: launch_case WORKER CASE_FILE WORLD_SIZE [HOSTID_PER_RANK]
 *
 * Starts a store and WORLD_SIZE workers with the environment of docs/worker-contract.md
 * and copies their events, one per line, to stdout, each behind "RANK ". With
 * HOSTID_PER_RANK (a number k) every k ranks form a host of their own. Exit status: 0 if
 * every worker's is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <poll.h>
#include <unistd.h>

#include "tests/bench/store_stub.h"

#define RANKS_MAX 256
#define LINE_MAX_BYTES (1 << 20)

struct source {
    int fd;
    char *line;
    size_t len;
};

static void set_number(const char *name, int value)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", value);
    setenv(name, text, 1);
}

static int start(char **argv, int rank, int n, int port, int per_host)
{
    int ends[2];

    if (pipe(ends)) {
        return -1;
    }
    if (fork() == 0) {
        char hostid[32];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], 3);
        for (int fd = 4; fd < 1024; fd++) {
            close(fd);
        }
        set_number("RANK", rank);
        set_number("WORLD_SIZE", n);
        set_number("LOCAL_RANK", per_host ? rank % per_host : rank);
        set_number("LOCAL_WORLD_SIZE", per_host ? per_host : n);
        setenv("MASTER_ADDR", "127.0.0.1", 1);
        set_number("MASTER_PORT", port);
        setenv("RINGBENCH_CASE", argv[2], 1);
        if (per_host) {
            snprintf(hostid, sizeof(hostid), "host-%d", rank / per_host);
            setenv("RINGBENCH_HOSTID", hostid, 1);
        }
        execl(argv[1], argv[1], (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return ends[0];
}

/* false: end of file. */
static int pump(struct source *source, int rank)
{
    ssize_t n =
        read(source->fd, source->line + source->len, LINE_MAX_BYTES - source->len);
    char *end;

    if (n <= 0) {
        close(source->fd);
        return 0;
    }
    source->len += (size_t)n;
    while ((end = memchr(source->line, '\n', source->len)) != NULL) {
        size_t len = (size_t)(end - source->line) + 1;
        printf("%d ", rank);
        fwrite(source->line, 1, len, stdout);
        source->len -= len;
        memmove(source->line, source->line + len, source->len);
    }
    fflush(stdout);
    return 1;
}

int main(int argc, char **argv)
{
    struct store_stub stub;
    struct source sources[RANKS_MAX] = {{0}};
    struct pollfd fds[RANKS_MAX];
    int status, worst = 0;

    int n = argc > 3 ? atoi(argv[3]) : 0, per_host = argc > 4 ? atoi(argv[4]) : 0;
    if (n < 1 || n > RANKS_MAX) {
        fprintf(stderr, "usage: launch_case WORKER CASE_FILE WORLD_SIZE [PER_HOST]\n");
        return 2;
    }
    if (store_stub_start(&stub, NULL, 0)) {
        return 2;
    }
    for (int rank = 0; rank < n; rank++) {
        sources[rank].fd = start(argv, rank, n, stub.port, per_host);
        sources[rank].line = malloc(LINE_MAX_BYTES);
        fds[rank] = (struct pollfd){.fd = sources[rank].fd, .events = POLLIN};
    }
    for (int open = n; open > 0;) {
        poll(fds, (nfds_t)n, -1);
        for (int rank = 0; rank < n; rank++) {
            if (fds[rank].revents && !pump(&sources[rank], rank)) {
                fds[rank].fd = -1;
                open--;
            }
        }
    }
    for (int rank = 0; rank < n; rank++) {
        wait(&status);
        worst = status ? 1 : worst;
        free(sources[rank].line);
    }
    store_stub_stop(&stub);
    return worst;
}
