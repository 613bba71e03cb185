/* ncclog.h - what NCCL's own log says of a rank's communicator
 *
 * Fed with the lines that a worker prints; those of NCCL (NCCL_DEBUG=INFO, or WARN) are
 * told by " NCCL INFO " and " NCCL WARN ". Versions word them differently: what is not
 * known is left out. Source of the forms: NCCL 2.28.9 and logs of 2.20. */
#ifndef RINGBENCH_AGENT_NCCLOG_NCCLOG_H
#define RINGBENCH_AGENT_NCCLOG_NCCLOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define NCCLOG_TRANSPORTS_MAX 32
#define NCCLOG_NAME_MAX 48
#define NCCLOG_WARNING_MAX 400

struct ncclog_transport {
    char name[NCCLOG_NAME_MAX]; /* "NET/IB/0/GDRDMA", "P2P/CUMEM", "SHM/direct/direct" */
    long sends, receives;       /* channels; those without a direction count as sends */
};

struct ncclog {
    char version[NCCLOG_NAME_MAX], network[NCCLOG_NAME_MAX];
    long ranks, nodes, local_ranks; /* 0: not said */
    bool has_channels;
    long channels[4];  /* collective, collnet, nvls, point to point */
    bool connected[4]; /* rings, trees, nvls, pat */
    double init_s;     /* negative: not said */
    struct ncclog_transport transports[NCCLOG_TRANSPORTS_MAX];
    size_t n_transports;
    char warning[NCCLOG_WARNING_MAX]; /* the last one */
};

void ncclog_init(struct ncclog *log);

/* One line, without its newline; not terminated, and of any bytes. */
void ncclog_line(struct ncclog *log, const char *line, size_t len);

/* {"version","network","ranks","nodes","local_ranks","channels":{"collective","collnet",
 * "nvls","point_to_point"},"connected":["ring",...],"init_s","transports":{NAME:
 * {"send","receive"}},"warning"}, as far as the log says; NULL when it says nothing. A
 * new reference. */
json_t *ncclog_json(const struct ncclog *log);

#endif
