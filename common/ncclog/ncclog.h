/* SPDX-License-Identifier: Apache-2.0 */
/* ncclog.h - what NCCL's own log says of a process: by which ways its rank reaches which
 * others, over which devices, and why so
 *
 * Fed line by line with what a process prints; lines of NCCL are told by " NCCL INFO "
 * and " NCCL WARN ". The forms are a table in forms.c, of NCCL 2.18 to 2.30, and those of
 * links and communicators of older versions and of RCCL too. A process may have several
 * communicators (tensor, pipeline and data parallel groups, or several GPUs); comms.c
 * tells whose lines are whose. */
#ifndef RINGBENCH_COMMON_NCCLOG_NCCLOG_H
#define RINGBENCH_COMMON_NCCLOG_NCCLOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NCCLOG_WAYS_MAX 64 /* of a communicator */
#define NCCLOG_COMMS_MAX 64
#define NCCLOG_COMM_MAX 56 /* of what names one */
#define NCCLOG_NAME_MAX 64
#define NCCLOG_RANKS_MAX 65536
#define NCCLOG_LIST_MAX 128   /* devices, settings, reasons: of each */
#define NCCLOG_UNREAD_MAX 8   /* lines that are kept of those that are not understood */
#define NCCLOG_WARNINGS_MAX 4 /* warnings that are kept: before and after init */
#define NCCLOG_TEXT_MAX 400

/* Ranks, a bit each; grows with the largest. */
struct ncclog_ranks {
    uint64_t *bits;
    size_t n_words;
};

struct ncclog_way {
    char via[NCCLOG_NAME_MAX]; /* "NET/IB", "P2P/direct pointer/read", "SHM/direct" */
    long device;               /* of a network; -1: none */
    bool is_gdr, is_pxn, is_collnet;
    struct ncclog_ranks to, from;
    uint64_t channels[2]; /* a bit each: of collectives, of sends and receives */
};

struct ncclog_comm {
    char id[24]; /* the pointer that the process prints; "": none was named yet */
    char name[NCCLOG_COMM_MAX];       /* the same in all of its processes; "": not said */
    long rank, n, nodes, local_ranks; /* -1: not said */
    long channels[3];                 /* collectives, nvls, point to point; -1 */
    bool connected[5];                /* rings, trees, nvls, pat, collnet */
    long ring_gdr;                    /* -1: not said */
    double init_s;                    /* negative: not said */
    bool has_ended;                   /* init is complete */
    bool has_failed;                  /* NCCL traced an error through it before that */
    struct ncclog_way *ways;
    size_t n_ways;
};

/* Forms that tell a library whose other lines are not known. */
enum ncclog_dialect { NCCLOG_KNOWN, NCCLOG_OLD, NCCLOG_RCCL };

/* Warnings: how many, and the first of them that differ. */
struct ncclog_warnings {
    json_t *first;
    long n;
};

struct ncclog {
    char version[NCCLOG_NAME_MAX], network[NCCLOG_NAME_MAX], plugin[NCCLOG_NAME_MAX];
    enum ncclog_dialect dialect;
    char bootstrap[NCCLOG_NAME_MAX]; /* interface */
    char address[NCCLOG_NAME_MAX];   /* of that interface */
    long driver;                     /* CUDA's, as it is numbered; 0: not said */
    struct ncclog_comm *comms;
    size_t n_comms, now;   /* the one that spoke last */
    size_t n_destroyed;    /* as the program asked, at its end */
    long n_comms_left_out; /* beyond the limit */
    char left_out[24];     /* the one of these that speaks; "": none does */
    long n_links;     /* lines that name one: it grows while NCCL connects its ranks */
    long n_unplaced;  /* of these, those that fit no communicator */
    long n_ambiguous; /* and those that fit several equally */
    json_t *hcas, *interfaces; /* as NCCL numbers them */
    json_t *settings;          /* that it says it took */
    json_t *reasons;           /* [{"about","text"}] */
    json_t *unread;
    long n_lines, n_unread;             /* of NCCL */
    struct ncclog_warnings early, late; /* before init was complete, and after */
};

enum ncclog_line { NCCLOG_NONE, NCCLOG_INFO, NCCLOG_WARN };

/* Of NET/IB, or of a plugin made of it (HPC-X: NET/IBext_v8), which numbers HCAs as it
 * does. */
static inline bool ncclog_is_of_ib(const char *via)
{
    return strncmp(via, "NET/IB", 6) == 0;
}

/* Whether a text is of the version line of NCCL or RCCL ("NCCL version 2.21.5"). */
const char *ncclog_find_version(const char *text);

void ncclog_init(struct ncclog *log);
void ncclog_release(struct ncclog *log);

/* One line, without its newline; not terminated, and of any bytes. What it is. */
enum ncclog_line ncclog_line(struct ncclog *log, const char *line, size_t len);

/* Of its communicators that which tells most: those before others that have ways, and of
 * these that are not of one node; then the largest, the first of these. NULL: none. */
const struct ncclog_comm *ncclog_main(const struct ncclog *log);

/* Whether a process warns of this because something else failed before, here or on
 * another node. */
bool ncclog_is_echo(const char *warning);

/* Whether a warning is of something that NCCL can do without, such as RDMA. */
bool ncclog_is_optional(const char *warning);

/* The cause among warnings (strings, in the order in which they came): the first that is
 * no echo and is not about something optional; else the first that is no echo; else the
 * first. NULL if there are none. */
const char *ncclog_cause(const json_t *warnings);

/* The warning that tells why the process failed, given that it did: NULL if none does. A
 * warning before its init was complete may be of something that NCCL did without. */
const char *ncclog_failure(const struct ncclog *log);

/* What docs/development/agent-protocol.md has as `log` of an event `nccl`, as far as the
 * log says; NULL when it says nothing. A new reference. */
json_t *ncclog_json(const struct ncclog *log);

#endif
