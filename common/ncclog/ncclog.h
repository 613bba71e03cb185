/* SPDX-License-Identifier: Apache-2.0 */
/* ncclog.h - reads from NCCL's log how a process's rank reaches its peers, over which
 * devices, and why. The parser gets a process's output line by line; " NCCL INFO " and "
 * NCCL WARN " mark NCCL's lines. The table in forms.c contains the forms of NCCL 2.18 to
 * 2.30, and those for links and communicators of older versions and RCCL. A process may
 * use several communicators (tensor, pipeline and data parallel groups, or several GPUs);
 * comms.c assigns lines to them. */
#ifndef RINGBENCH_COMMON_NCCLOG_NCCLOG_H
#define RINGBENCH_COMMON_NCCLOG_NCCLOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NCCLOG_WAYS_MAX 64 /* maximum number of transports per communicator */
#define NCCLOG_COMMS_MAX 64
#define NCCLOG_COMM_MAX 56 /* size of a communicator's name */
#define NCCLOG_NAME_MAX 64
#define NCCLOG_RANKS_MAX 65536
/* maximum length of the lists of devices, of settings and of reasons */
#define NCCLOG_LIST_MAX 128
#define NCCLOG_UNREAD_MAX 8 /* maximum number of stored lines that match no form */
/* maximum number of warnings stored before init is complete, and again afterwards */
#define NCCLOG_WARNINGS_MAX 4
#define NCCLOG_TEXT_MAX 400

/* A bit set of ranks; grows with the largest rank. */
struct ncclog_ranks {
    uint64_t *bits;
    size_t n_words;
};

struct ncclog_way {
    char via[NCCLOG_NAME_MAX]; /* transport, such as "NET/IB", "P2P/direct pointer/read"
                                  or "SHM/direct" */
    long device;               /* number of the network device; -1: not a network */
    bool is_gdr, is_pxn, is_collnet;
    struct ncclog_ranks to, from;
    uint64_t channels[2]; /* bit sets of channels: for collectives, and for sends and
                             receives */
};

struct ncclog_comm {
    char id[24];                /* the pointer that NCCL prints; "": not reported */
    char name[NCCLOG_COMM_MAX]; /* the same in all processes of the communicator; "": not
                                   reported */
    long rank, n, nodes, local_ranks; /* -1: not reported */
    long channels[3];  /* numbers of channels: collectives, NVLS, point to point; -1: not
                          reported */
    bool connected[5]; /* true if connected: rings, trees, nvls, pat, collnet */
    long ring_gdr;     /* -1: not reported */
    double init_s;     /* duration of init, seconds; negative: not reported */
    bool has_ended;    /* true once init is complete */
    /* true if NCCL traced an error in the communicator before init was complete */
    bool has_failed;
    struct ncclog_way *ways;
    size_t n_ways;
};

/* The log's dialect. For OLD and RCCL, only the forms of links and communicators are
 * known. */
enum ncclog_dialect { NCCLOG_KNOWN, NCCLOG_OLD, NCCLOG_RCCL };

/* The number of warnings, and the first distinct ones. */
struct ncclog_warnings {
    json_t *first;
    long n;
};

struct ncclog {
    char version[NCCLOG_NAME_MAX], network[NCCLOG_NAME_MAX], plugin[NCCLOG_NAME_MAX];
    enum ncclog_dialect dialect;
    char bootstrap[NCCLOG_NAME_MAX]; /* name of the bootstrap interface */
    char address[NCCLOG_NAME_MAX];   /* address of the bootstrap interface */
    long driver;                     /* CUDA driver version number; 0: not reported */
    struct ncclog_comm *comms;
    size_t n_comms, now;   /* now: index of the selected communicator */
    size_t n_destroyed;    /* number of communicators that the program destroyed */
    long n_comms_left_out; /* number of communicators beyond the limit */
    char left_out[24]; /* the selected communicator if it is beyond the limit; else "" */
    long n_links; /* number of lines about links; grows while NCCL connects its ranks */
    long n_unplaced;  /* number of link lines that fit no communicator */
    long n_ambiguous; /* number of link lines that fit several communicators equally */
    json_t *hcas, *interfaces; /* devices in NCCL's numbering */
    json_t *settings;          /* settings that NCCL reports as applied */
    json_t *reasons;           /* lines that explain the transports: [{"about","text"}] */
    json_t *unread;
    long n_lines, n_unread; /* numbers of NCCL's lines, and of lines that match no form */
    struct ncclog_warnings early, late; /* warnings before init was complete, and after */
};

enum ncclog_line { NCCLOG_NONE, NCCLOG_INFO, NCCLOG_WARN };

/* Return true if a transport is NET/IB or a plugin derived from it (HPC-X: NET/IBext_v8),
 * which numbers HCAs in the same way. */
static inline bool ncclog_is_of_ib(const char *via)
{
    return strncmp(via, "NET/IB", 6) == 0;
}

/* Return the start of "NCCL version" or "RCCL version" in a text, or NULL. */
const char *ncclog_find_version(const char *text);

void ncclog_init(struct ncclog *log);
void ncclog_release(struct ncclog *log);

/* Parse one line without its newline. The line may contain any bytes and need not end
 * with a NUL. Return its kind. */
enum ncclog_line ncclog_line(struct ncclog *log, const char *line, size_t len);

/* Return the most informative communicator, or NULL. Prefer known transports, then
 * several nodes, then more ranks, then the earlier communicator. */
const struct ncclog_comm *ncclog_main(const struct ncclog *log);

/* Return true if a warning is only a consequence of an earlier failure, in this process
 * or in another one. */
bool ncclog_is_echo(const char *warning);

/* Return true if a warning concerns a feature that NCCL can do without, such as RDMA. */
bool ncclog_is_optional(const char *warning);

/* Return the warning that is the most likely cause (warnings: strings in order of
 * arrival). Prefer the first warning that is neither a consequence nor optional, then the
 * first that is not a consequence, then the first. Return NULL if there are none. */
const char *ncclog_cause(const json_t *warnings);

/* Return the warning that explains why the process failed, or NULL. Call this for failed
 * processes only, because a warning before init was complete may concern an optional
 * feature. */
const char *ncclog_failure(const struct ncclog *log);

/* Return the `log` object of an `nccl` event (docs/development/agent-protocol.md) with
 * the reported members, or NULL if nothing was reported. The result is a new reference.
 */
json_t *ncclog_json(const struct ncclog *log);

#endif
