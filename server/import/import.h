/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - reads the output of other benchmarks: text and JSON (-J) of nccl-tests 2.10
 * and later, and the blocking collectives of the OSU benchmarks (OMB). The functions do
 * no I/O. The formats are defined in NVIDIA/nccl-tests, src/util.cu and src/common.cu,
 * and in OMB's util/osu_util_mpi.c. */
#ifndef RINGBENCH_SERVER_IMPORT_IMPORT_H
#define RINGBENCH_SERVER_IMPORT_IMPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* limit in bytes; enough for logs of thousands of processes */
#define IMPORT_BYTES_MAX ((size_t)64 << 20)
/* Limit in bytes; parsed JSON takes more memory than text */
#define IMPORT_JSON_MAX ((size_t)2 << 20)
#define IMPORT_ROWS_MAX 10000
#define IMPORT_TABLES_MAX 1000
#define IMPORT_NODES_MAX 4096
#define IMPORT_RANKS_MAX 65536
#define IMPORT_NOTES_MAX 50
#define IMPORT_NAME_SIZE 65
#define IMPORT_VERSION_SIZE 32

enum import_format { IMPORT_NCCL_TESTS, IMPORT_NCCL_TESTS_JSON, IMPORT_OSU };

/* One placement (in place or out of place) in a line of nccl-tests, or a line of OSU. */
struct import_row {
    uint64_t size, count; /* bytes; elements per call, as ringbench counts them */
    int dtype;            /* enum dtype */
    int redop, root;      /* -1: none */
    int cycle;            /* number of earlier rows with the same series and size */
    bool in_place;
    double time_us, algbw_gbs, busbw_gbs;
    /* Shortest and longest time of any rank; 0: unknown */
    double time_min_us, time_max_us;
    int64_t wrong; /* number of wrong elements; -1: unknown */
    long iters;    /* -1: unknown */
};

struct import_node {
    char name[IMPORT_NAME_SIZE];
    char host[IMPORT_NAME_SIZE]; /* host name as the host reports it; may not be unique */
    char bus[24];                /* PCI bus id of the first rank's device, or "" */
    int ranks;
};

/* Settings in nccl-tests' output, in the order of their appearance in the text. */
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
    const char *label;  /* text before the number in nccl-tests' output */
    const char *name;   /* name in nccl-tests' JSON */
    const char *parent; /* the run spec's object that contains the field, or NULL */
    const char *field;
    long least; /* minimum; smaller numbers are not copied to the run spec */
};
extern const struct import_setting import_settings[IMPORT_SETTINGS];

/* The output of one call of a benchmark. Unknown numbers are -1. */
struct import_table {
    enum import_format format;
    int collective; /* enum collective_kind; -1: unknown */
    /* Or "" if unknown */
    char version[IMPORT_VERSION_SIZE], library[IMPORT_VERSION_SIZE];
    char device[IMPORT_NAME_SIZE];      /* device of the first rank, or "" */
    char heading[IMPORT_NAME_SIZE];     /* text that describes the table, or "" */
    char heading_key[IMPORT_NAME_SIZE]; /* equal for repeats with the same settings */
    bool is_weak;                       /* the heading may be unrelated output */
    char failure[IMPORT_NAME_SIZE * 2]; /* error message of a failed process, or "" */
    /* Sorted by first rank; incomplete if the file's list is truncated. */
    struct import_node *nodes;
    size_t n_nodes, nodes_capacity;
    int ranks;      /* 0: unknown */
    int ranks_from; /* highest listed rank plus 1, a lower bound of `ranks` */
    int worlds;     /* number of times that rank 0 is listed */
    int listed;     /* total number of ranks in all lists */
    int ends; /* number of closing lines; several worlds may print at the same time */
    char worlds_on[2 * IMPORT_NAME_SIZE]; /* names of the nodes that list a rank 0 */
    int groups;                     /* number of groups that measured at the same time */
    long settings[IMPORT_SETTINGS]; /* one value for each entry of import_settings */
    struct import_row *rows;
    size_t n_rows, rows_capacity;
    size_t n_unread; /* lines of the table that could not be read */
    /* The output's first lines are present; a pasted excerpt may lack them */
    bool has_begun;
    bool has_ended;     /* the closing lines were read, or the format prints none */
    long out_of_bounds; /* number of wrong elements in the closing line */
    uint64_t wrong_at;  /* first size with wrong data, in bytes */
    bool is_below;      /* the bandwidth is below the minimum that the user requested */
    bool is_rccl;       /* printed by rccl-tests */
};

struct import {
    struct import_table *tables;
    size_t n_tables, capacity, n_rows;
    json_t *unread; /* [{"line" or "pointer", "detail"}], at most IMPORT_NOTES_MAX */
    size_t n_unread;
    /* Error line of a process that failed before any table, or "" */
    char failure[IMPORT_NAME_SIZE * 2];
};

/* Read a file. Unreadable rows are listed in `unread`; the others are kept. -1 with *err
 * (ERROR_INVALID, ERROR_LIMIT) if there are no rows. *out must be released in either
 * case. */
int import_read(const char *text, size_t len, struct import *out, struct error *err);
void import_release(struct import *import);

/* Information from the user that the file may lack. */
struct import_hints {
    int collective; /* -1: not given */
    int ranks;      /* 0: not given */
};

/* Complete the tables, and convert OSU's sizes and bandwidths to ringbench's definitions.
 * Check that bus bandwidths match the collective and the number of ranks. Returns -1 with
 * *err if information is missing or contradictory. */
int import_settle(struct import *import, const struct import_hints *hints,
                  struct error *err);

/* True if two tables have the same settings and are therefore repeats. */
bool import_alike(const struct import_table *a, const struct import_table *b);

/* "nccl-tests", "rccl-tests" or "osu". The text is static. */
const char *import_source(const struct import_table *table);

#endif
