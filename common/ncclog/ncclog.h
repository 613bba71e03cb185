/* SPDX-License-Identifier: Apache-2.0 */
/* ncclog.h - the transports in NCCL's own log: how a process's rank reaches its peers,
 * over which devices, and why. The parser gets a process's output line by line; " NCCL
 * INFO " and " NCCL WARN " mark NCCL's lines. The table in forms.c has the forms of NCCL
 * 2.18 to 2.30, and those for links and communicators of older versions and RCCL. A
 * process may have several communicators (tensor, pipeline and data parallel groups, or
 * several GPUs); comms.c assigns lines to them. */
#ifndef RINGBENCH_COMMON_NCCLOG_NCCLOG_H
#define RINGBENCH_COMMON_NCCLOG_NCCLOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NCCLOG_WAYS_MAX 64 /* per communicator */
#define NCCLOG_COMMS_MAX 64
#define NCCLOG_COMM_MAX 56 /* of a communicator's name */
#define NCCLOG_NAME_MAX 64
#define NCCLOG_RANKS_MAX 65536
#define NCCLOG_LIST_MAX 128   /* devices, settings, reasons: for each */
#define NCCLOG_UNREAD_MAX 8   /* kept lines that match no form */
#define NCCLOG_WARNINGS_MAX 4 /* kept warnings, before and after init each */
#define NCCLOG_TEXT_MAX 400

/* A bit set of ranks; grows with the largest rank. */
struct ncclog_ranks {
    uint64_t *bits;
    size_t n_words;
};

struct ncclog_way {
    char via[NCCLOG_NAME_MAX]; /* "NET/IB", "P2P/direct pointer/read", "SHM/direct" */
    long device;               /* of a network; -1: none */
    bool is_gdr, is_pxn, is_collnet;
    struct ncclog_ranks to, from;
    uint64_t channels[2]; /* bit sets: for collectives, for sends and receives */
};

struct ncclog_comm {
    char id[24]; /* the pointer that the process prints; "": not reported */
    char name[NCCLOG_COMM_MAX]; /* equal in all of its processes; "": not reported */
    long rank, n, nodes, local_ranks; /* -1: not reported */
    long channels[3];  /* collectives, NVLS, point to point; -1: not reported */
    bool connected[5]; /* rings, trees, nvls, pat, collnet */
    long ring_gdr;     /* -1: not reported */
    double init_s;     /* negative: not reported */
    bool has_ended;    /* init is complete */
    bool has_failed;   /* NCCL traced an error through it before init was complete */
    struct ncclog_way *ways;
    size_t n_ways;
};

/* Forms that identify a library for which the other forms are unknown. */
enum ncclog_dialect { NCCLOG_KNOWN, NCCLOG_OLD, NCCLOG_RCCL };

/* Warnings: their number, and the first distinct ones. */
struct ncclog_warnings {
    json_t *first;
    long n;
};

struct ncclog {
    char version[NCCLOG_NAME_MAX], network[NCCLOG_NAME_MAX], plugin[NCCLOG_NAME_MAX];
    enum ncclog_dialect dialect;
    char bootstrap[NCCLOG_NAME_MAX]; /* interface */
    char address[NCCLOG_NAME_MAX];   /* of that interface */
    long driver;                     /* CUDA driver version number; 0: not reported */
    struct ncclog_comm *comms;
    size_t n_comms, now;   /* now: index of the last one that spoke */
    size_t n_destroyed;    /* at the program's request, at its end */
    long n_comms_left_out; /* beyond the limit */
    char left_out[24];     /* the selected one of those left out; "": none */
    long n_links;     /* lines that name a link; grows while NCCL connects its ranks */
    long n_unplaced;  /* of these, lines that fit no communicator */
    long n_ambiguous; /* lines that fit several equally */
    json_t *hcas, *interfaces; /* in NCCL's numbering */
    json_t *settings;          /* that NCCL reports as applied */
    json_t *reasons;           /* [{"about","text"}] */
    json_t *unread;
    long n_lines, n_unread;             /* lines from NCCL */
    struct ncclog_warnings early, late; /* before init was complete, and after */
};

enum ncclog_line { NCCLOG_NONE, NCCLOG_INFO, NCCLOG_WARN };

/* Return whether a transport is NET/IB or a plugin derived from it (HPC-X: NET/IBext_v8),
 * which numbers HCAs in the same way. */
static inline bool ncclog_is_of_ib(const char *via)
{
    return strncmp(via, "NET/IB", 6) == 0;
}

/* Return the start of "NCCL version" or "RCCL version" in a text, or NULL. */
const char *ncclog_find_version(const char *text);

void ncclog_init(struct ncclog *log);
void ncclog_release(struct ncclog *log);

/* Parse one line without its newline; it may hold any bytes and no NUL at its end. Return
 * its kind. */
enum ncclog_line ncclog_line(struct ncclog *log, const char *line, size_t len);

/* Return the most informative communicator: known transports first, then several nodes,
 * then the largest, then the first. NULL: none. */
const struct ncclog_comm *ncclog_main(const struct ncclog *log);

/* Return whether a warning is only the consequence of an earlier failure, here or on
 * another node. */
bool ncclog_is_echo(const char *warning);

/* Return whether a warning concerns something optional for NCCL, such as RDMA. */
bool ncclog_is_optional(const char *warning);

/* Return the cause among warnings (strings in order of arrival): the first that is
 * neither an echo nor optional; else the first that is no echo; else the first. NULL if
 * there are none. */
const char *ncclog_cause(const json_t *warnings);

/* Return the warning that explains why the process failed, or NULL; call it for failed
 * processes only. A warning before init was complete may concern something optional. */
const char *ncclog_failure(const struct ncclog *log);

/* Return the `log` object of an `nccl` event (docs/development/agent-protocol.md) with
 * the reported members, or NULL if nothing was reported. A new reference. */
json_t *ncclog_json(const struct ncclog *log);

#endif
