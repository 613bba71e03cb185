/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - what other benchmarks printed, read: nccl-tests' text and JSON (-J)
 * from 2.10 on, and the blocking collectives of the OSU benchmarks. Plain functions over
 * bytes; what they print is in NVIDIA/nccl-tests, src/util.cu and src/common.cu, and in
 * OMB's util/osu_util_mpi.c. */
#ifndef RINGBENCH_SERVER_IMPORT_IMPORT_H
#define RINGBENCH_SERVER_IMPORT_IMPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

#define IMPORT_BYTES_MAX ((size_t)64 << 20) /* of a log of thousands of processes, */
#define IMPORT_JSON_MAX ((size_t)2 << 20)   /* and of JSON, which is larger when read */
#define IMPORT_ROWS_MAX 10000
#define IMPORT_TABLES_MAX 1000
#define IMPORT_NODES_MAX 4096
#define IMPORT_RANKS_MAX 65536
#define IMPORT_NOTES_MAX 50
#define IMPORT_NAME_SIZE 65
#define IMPORT_VERSION_SIZE 32

enum import_format { IMPORT_NCCL_TESTS, IMPORT_NCCL_TESTS_JSON, IMPORT_OSU };

/* One half of a line of nccl-tests, or a line of OSU. */
struct import_row {
    uint64_t size, count; /* bytes; elements of a call; as ringbench counts them */
    int dtype;            /* enum dtype */
    int redop, root;      /* -1: none */
    int cycle;            /* how often its series had this size before */
    bool in_place;
    double time_us, algbw_gbs, busbw_gbs;
    double time_min_us, time_max_us; /* of the ranks; 0: not told */
    int64_t wrong;                   /* elements; -1: not told */
    long iters;                      /* -1: not told */
};

struct import_node {
    char name[IMPORT_NAME_SIZE];
    char host[IMPORT_NAME_SIZE]; /* as it calls itself, which others may do too */
    char bus[24];                /* of its first rank's device; or "" */
    int ranks;
};

/* Settings of nccl-tests that a file tells, in the order of its text. */
enum {
    IMPORT_WARMUP,
    IMPORT_ITERS,
    IMPORT_AGG_ITERS,
    IMPORT_CHECK,
    IMPORT_GRAPH,
    IMPORT_UNALIGN,
    IMPORT_SETTINGS
};
struct import_setting {
    const char *label;  /* before the number in nccl-tests' text */
    const char *name;   /* in its JSON */
    const char *parent; /* of the run spec's field, or NULL */
    const char *field;
    long least; /* smaller numbers are left out of the run spec */
};
extern const struct import_setting import_settings[IMPORT_SETTINGS];

/* What one call of a benchmark printed. Numbers that it did not tell are -1. */
struct import_table {
    enum import_format format;
    int collective; /* enum collective_kind, or -1: it does not say */
    char version[IMPORT_VERSION_SIZE], library[IMPORT_VERSION_SIZE]; /* or "" */
    char device[IMPORT_NAME_SIZE];      /* of the first rank; or "" */
    char heading[IMPORT_NAME_SIZE];     /* of the lines above it; or "" */
    char heading_key[IMPORT_NAME_SIZE]; /* the same for repeats of one setting */
    bool is_weak;                       /* that is just the last line there */
    char failure[IMPORT_NAME_SIZE * 2]; /* of a process that failed in it; or "" */
    struct import_node *nodes;          /* by first rank; fewer than ranks where the list
                                           is cut */
    size_t n_nodes, nodes_capacity;
    int ranks;      /* 0: it does not say */
    int ranks_from; /* by the highest number in a list: there were at least so many */
    int worlds;     /* how often the list has a rank 0, */
    int listed;     /* how many ranks in all, */
    int ends;       /* and how often it ends: several print at once */
    char worlds_on[2 * IMPORT_NAME_SIZE]; /* the nodes of these */
    int groups;                           /* that measured at the same time */
    long settings[IMPORT_SETTINGS];       /* by import_settings */
    struct import_row *rows;
    size_t n_rows, rows_capacity;
    size_t n_unread;    /* lines of it */
    bool has_begun;     /* its first lines are there, which a paste may lack */
    bool has_ended;     /* its closing lines are there */
    long out_of_bounds; /* wrong elements, as the closing line says */
    uint64_t wrong_at;  /* the first size of which a line says that data were wrong */
    bool is_below;      /* the minimum bandwidth that was asked for */
    bool is_rccl;       /* rccl-tests */
};

struct import {
    struct import_table *tables;
    size_t n_tables, capacity, n_rows;
    json_t *unread; /* [{"line" or "pointer", "detail"}], at most IMPORT_NOTES_MAX */
    size_t n_unread;
    char failure[IMPORT_NAME_SIZE * 2]; /* of a process, before any table */
};

/* Read a file. Rows that can't be read are in `unread`; the others are taken. -1 with
 * *err (ERROR_INVALID, ERROR_LIMIT, ERROR_MEMORY) when there is nothing to take. *out is
 * to be released either way. */
int import_read(const char *text, size_t len, struct import *out, struct error *err);
void import_release(struct import *import);

/* What the file may not say. */
struct import_hints {
    int collective; /* -1: nothing */
    int ranks;      /* 0: nothing */
};

/* Fill in what the tables lack, count sizes and bandwidths of OSU's as ringbench does,
 * and hold bus bandwidths against collective and ranks. -1 with *err when something is
 * still lacking or does not fit. */
int import_settle(struct import *import, const struct import_hints *hints,
                  struct error *err);

/* Whether two tables are of the same thing: then they are repeats. */
bool import_alike(const struct import_table *a, const struct import_table *b);

/* "nccl-tests", "rccl-tests" or "osu". Static. */
const char *import_source(const struct import_table *table);

#endif
