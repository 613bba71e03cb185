/* SPDX-License-Identifier: Apache-2.0 */
/* bench_host.c - runs the host backend in a plain C loop: no server, no agent, no
 * bench loop
 *
 * usage: bench_host RANKS [COLLECTIVE]. Prints "SIZE TIME_US" per size.
 *
 * Environment: BENCH_MIN, BENCH_MAX, BENCH_ITERS (loop.h), BENCH_SOCKETS (host.sockets
 * of a run), BENCH_PER_HOST (ranks per simulated host), BENCH_NETNS (NAME: rank R runs
 * in the network namespace NAME<R> with the address 10.77.0.<R + 1>, as netns.mjs
 * creates them; this program runs in the namespace of their hub). */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/worker/base/affinity.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/host/host_comm.h"
#include "bench/loop.h"
#include "bench/rendezvous_stub.h"

#define HUB "10.77.0.254"

struct rank {
    struct tree *tree;
    struct backend_comm *comm;
    int rank, ranks;
    enum collective_kind kind;
    struct loop_options options;
    char *send, *recv;
    struct error error;
};

static int run_one(struct rank *self, size_t size, size_t at)
{
    struct collective_layout layout;

    collective_layout(self->kind, size, DTYPE_FLOAT32, self->ranks, &layout);
    struct backend_call call = {.kind = self->kind,
                                .dtype = DTYPE_FLOAT32,
                                .redop = collective_facts(self->kind)->reduces ? REDOP_SUM
                                                                               : -1,
                                .root = collective_facts(self->kind)->is_rooted ? 0 : -1,
                                .send = self->send + at,
                                .recv = self->recv + at,
                                .count = layout.count};
    return backend_host.run(self->comm, &call, &self->error);
}

static double mean_over_ranks(struct rank *self, double mine)
{
    double all[256] = {0}, sum = 0;

    tree_allgather(self->tree, &mine, sizeof(mine), all, &self->error);
    for (int i = 0; i < self->ranks; i++)
        sum += all[i];
    return sum / self->ranks;
}

static int time_size(struct rank *self, size_t size, double *us)
{
    int iters = loop_iters(&self->options, size);

    for (int i = 0; i < self->options.warmup; i++)
        if (run_one(self, size, 0))
            return -1;
    if (tree_barrier(self->tree, &self->error))
        return -1;
    double start = loop_now_us();
    for (int i = 0; i < iters; i++)
        if (run_one(self, size, loop_offset(&self->options, size, i)))
            return -1;
    *us = mean_over_ranks(self, (loop_now_us() - start) / iters);
    return 0;
}

static int time_all(struct rank *self)
{
    for (int i = 0; i < self->options.settle; i++)
        if (run_one(self, 4096, 0))
            return -1;
    for (size_t size = self->options.min; size <= self->options.max; size *= 2) {
        double us = 0;
        if (time_size(self, size, &us))
            return -1;
        size_t count = size / sizeof(float);
        if (self->kind == COLLECTIVE_ALL_REDUCE &&
            loop_wrong((float *)(void *)self->recv, count, self->ranks)) {
            fprintf(stderr, "rank %d: wrong result at %zu\n", self->rank, size);
            return -1;
        }
        if (self->rank == 0) {
            printf("%zu %.4f\n", size, us);
            fflush(stdout);
        }
    }
    return 0;
}

static int prepare(struct rank *self)
{
    void *send, *recv;

    if (backend_host.alloc(self->comm, self->options.max, &send, &recv, &self->error))
        return -1;
    self->send = send;
    self->recv = recv;
    for (size_t i = 0; i < self->options.max / sizeof(float); i++)
        ((float *)send)[i] = (float)(self->rank + 1);
    memset(recv, 0, self->options.max);
    return 0;
}

/* Agents and mpirun also bind ranks. */
static void bind_to_core(struct rank *self)
{
    char cpu[16];

    if (self->ranks > sysconf(_SC_NPROCESSORS_ONLN))
        return;
    snprintf(cpu, sizeof(cpu), "%d", self->rank);
    setenv("RINGBENCH_CPUS", cpu, 1);
    affinity_apply(cpu, &self->error);
}

/* -1 if there is no such namespace. */
static int enter_network(const struct rank *self, const char *netns)
{
    char path[64];

    snprintf(path, sizeof(path), "/run/netns/%s%d", netns, self->rank);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int status = fd < 0 || setns(fd, CLONE_NEWNET) ? -1 : 0;
    if (fd >= 0)
        close(fd);
    return status;
}

static long number(const char *name)
{
    const char *text = getenv(name);

    return text ? atol(text) : 0;
}

static int run_rank(struct rank *self, const char *port)
{
    const char *per_host = getenv("BENCH_PER_HOST"), *netns = getenv("BENCH_NETNS");
    char hostid[32], address[32];
    struct backend_env env = {
        .rank = self->rank, .world_size = self->ranks, .timeout_ms = 30000};

    struct run_spec spec = {.host.transport = getenv("BENCH_UCX") ? HOST_TRANSPORT_UCX
                                                                  : HOST_TRANSPORT_TCP,
                            .host.sockets = number("BENCH_SOCKETS")};
    struct case_file file = {.spec = &spec};

    env.file = &file;
    bind_to_core(self);
    if (netns && enter_network(self, netns)) {
        perror(netns);
        return 1;
    }
    if (netns) {
        snprintf(address, sizeof(address), "10.77.0.%d", self->rank + 1);
        env.address = address;
    }
    struct rendezvous_client *store = rendezvous_client_connect(
        netns ? HUB : "127.0.0.1", port, 10000, NULL, &self->error);
    env.store = store;
    if (per_host) {
        snprintf(hostid, sizeof(hostid), "host-%d", self->rank / atoi(per_host));
        env.hostid = hostid;
    }
    struct tree_config config = backend_env_tree(&env);
    self->tree = env.tree = store ? tree_create(&config, &self->error) : NULL;
    self->comm = env.tree ? backend_host.create(&env, &self->error) : NULL;
    if (!self->comm || backend_host.connect(self->comm, &env, &self->error) ||
        prepare(self) || time_all(self)) {
        fprintf(stderr, "rank %d: %s\n", self->rank, self->error.text);
        return 1;
    }
    backend_host.destroy(self->comm);
    tree_destroy(self->tree);
    rendezvous_client_destroy(store);
    return 0;
}

int main(int argc, char **argv)
{
    struct rank self = {.ranks = argc > 1 ? atoi(argv[1]) : 0,
                        .options = loop_options_read()};
    struct rendezvous_stub stub;
    char port[16];
    int status, worst = 0;

    int kind = collective_lookup(argc > 2 ? argv[2] : "all_reduce");
    if (self.ranks < 1 || self.ranks > 256 || kind < 0 ||
        rendezvous_stub_start(&stub, getenv("BENCH_NETNS") ? HUB : NULL, 0)) {
        fprintf(stderr, "usage: bench_host RANKS [COLLECTIVE]\n");
        return 2;
    }
    self.kind = (enum collective_kind)kind;
    snprintf(port, sizeof(port), "%d", stub.port);
    for (int rank = 0; rank < self.ranks; rank++) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            self.rank = rank;
            exit(run_rank(&self, port));
        }
    }
    for (int rank = 0; rank < self.ranks; rank++) {
        wait(&status);
        worst |= status != 0;
    }
    rendezvous_stub_stop(&stub);
    return worst;
}
