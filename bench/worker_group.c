/* SPDX-License-Identifier: Apache-2.0 */
/* worker_group.c - runs the workers of a case without server and agent */
#include "bench/worker_group.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_BYTES (1 << 20)
#define EVENTS_FD 3

static void set_number(const char *name, int value)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", value);
    setenv(name, text, 1);
}

static void become_worker(const struct worker_group *group, const char *program,
                          const char *case_path, int rank, int per_host, int events)
{
    char hostid[32];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(events, EVENTS_FD);
    for (int fd = EVENTS_FD + 1; fd < 1024; fd++)
        close(fd);
    set_number("RANK", rank);
    set_number("WORLD_SIZE", group->n);
    set_number("LOCAL_RANK", per_host ? rank % per_host : rank);
    set_number("LOCAL_WORLD_SIZE", per_host ? per_host : group->n);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    set_number("MASTER_PORT", group->store.port);
    setenv("RINGBENCH_CASE", case_path, 1);
    if (per_host) {
        snprintf(hostid, sizeof(hostid), "host-%d", rank / per_host);
        setenv("RINGBENCH_HOSTID", hostid, 1);
    }
    execl(program, program, (char *)NULL);
    _exit(127);
}

int worker_group_open(struct worker_group *group, int n)
{
    memset(group, 0, sizeof(*group));
    if (n < 1 || n > WORKER_GROUP_MAX || rendezvous_stub_start(&group->store, NULL, 0))
        return -1;
    group->n = n;
    return 0;
}

int worker_group_add(struct worker_group *group, const char *program,
                     const char *case_path, int rank, int per_host)
{
    struct worker_source *worker = &group->workers[rank];
    int ends[2];

    if (pipe(ends))
        return -1;
    worker->pid = fork();
    if (worker->pid == 0)
        become_worker(group, program, case_path, rank, per_host, ends[1]);
    close(ends[1]);
    if (worker->pid < 0) {
        close(ends[0]);
        return -1;
    }
    worker->fd = ends[0];
    worker->line = malloc(LINE_BYTES);
    return 0;
}

int worker_group_start(struct worker_group *group, const char *program,
                       const char *case_path, int n, int per_host)
{
    if (worker_group_open(group, n))
        return -1;
    for (int rank = 0; rank < n; rank++)
        if (worker_group_add(group, program, case_path, rank, per_host))
            return -1;
    return 0;
}

int worker_group_signal(const struct worker_group *group, int rank, int signum)
{
    pid_t pid = group->workers[rank].pid;

    return pid > 0 ? kill(pid, signum) : -1;
}

static void reap(struct worker_source *worker)
{
    close(worker->fd);
    worker->fd = -1;
    waitpid(worker->pid, &worker->status, 0);
    worker->pid = 0;
}

static void pump(struct worker_source *worker, int rank, worker_line_fn *fn, void *arg)
{
    size_t space = LINE_BYTES - worker->len;
    ssize_t n = read(worker->fd, worker->line + worker->len, space);
    char *end;

    if (n <= 0) {
        reap(worker);
        return;
    }
    worker->len += (size_t)n;
    while ((end = memchr(worker->line, '\n', worker->len)) != NULL) {
        size_t len = (size_t)(end - worker->line);
        *end = '\0';
        fn(arg, rank, worker->line, len);
        worker->len -= len + 1;
        memmove(worker->line, end + 1, worker->len);
    }
}

int worker_group_read(struct worker_group *group, int timeout_ms, const bool *stop,
                      worker_line_fn *fn, void *arg)
{
    struct pollfd fds[WORKER_GROUP_MAX];

    for (;;) {
        int open = 0;
        for (int rank = 0; rank < group->n; rank++) {
            int fd = group->workers[rank].fd;
            fds[rank] = (struct pollfd){.fd = fd, .events = POLLIN};
            open += fd >= 0;
        }
        if (open == 0)
            return 0;
        if ((stop && *stop) || poll(fds, (nfds_t)group->n, timeout_ms) <= 0)
            return 1;
        for (int rank = 0; rank < group->n; rank++)
            if (fds[rank].revents)
                pump(&group->workers[rank], rank, fn, arg);
    }
}

void worker_group_end(struct worker_group *group)
{
    for (int rank = 0; rank < group->n; rank++) {
        struct worker_source *worker = &group->workers[rank];
        if (worker->pid > 0) {
            kill(worker->pid, SIGKILL);
            reap(worker);
        }
        free(worker->line);
    }
    rendezvous_stub_stop(&group->store);
}
