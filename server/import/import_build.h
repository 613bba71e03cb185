/* SPDX-License-Identifier: Apache-2.0 */
/* import_build.h - shared by the readers of the formats */
#ifndef RINGBENCH_SERVER_IMPORT_IMPORT_BUILD_H
#define RINGBENCH_SERVER_IMPORT_IMPORT_BUILD_H

#include "server/import/heading.h"
#include "server/import/import.h"

#define IMPORT_LINE_SIZE 2048
#define IMPORT_WORDS_MAX 64

/* A line and its words. */
struct import_line {
    long number; /* counted from 1 */
    const char *text;
    char copy[IMPORT_LINE_SIZE]; /* split into the words */
    char *words[IMPORT_WORDS_MAX];
    size_t n_words;
};

/* Append a table without known facts; NULL with err. */
struct import_table *import_add_table(struct import *import, enum import_format format,
                                      struct error *err);

/* Append a row to the last table. -1 with err. */
int import_add_row(struct import *import, const struct import_row *row,
                   struct error *err);

/* Add a rank to the last table, on that node (cleaned and cut). bus: of its device, or ""
 * if unknown. Two ranks never share a device: if a rank repeats the first device of its
 * host, it is on another host of the same name. -1 with err. */
int import_add_rank(struct import *import, const char *node, const char *bus, int ranks,
                    struct error *err);

/* Forget the table's ranks, because the list begins again. */
void import_restart_ranks(struct import *import);

/* Drop the first `n` words of the line. */
void import_drop_words(struct import_line *line, size_t n);

/* A data type by its name in nccl-tests or rccl-tests; -1: unknown. */
int import_dtype(const char *word);

/* The start of a count in a word, after a prefix that a launcher attached; NULL if there
 * is none. */
char *import_count_in(char *word, uint64_t *value);

/* Set the device of the last table's ranks, if it is not set yet. */
void import_set_device(struct import *import, const char *device);

/* Note an unreadable row of the last table by its line or pointer, or another unreadable
 * line. */
void import_note_row(struct import *import, long line, const char *detail);
void import_note_pointer(struct import *import, const char *pointer, const char *detail);
void import_note_line(struct import *import, long line, const char *detail);

/* Parse a whole word as a number. False if it is none or out of range. */
bool import_number(const char *word, double *value); /* finite, not below 0 */
bool import_count(const char *word, uint64_t *value);

/* The number after `label`; -1 if there is none. */
long import_number_after(const char *text, const char *label);

/* "2.28.9" of NCCL's version code. */
void import_library(long code, char out[IMPORT_VERSION_SIZE]);

/* The collective of a program's path, such as .../all_reduce_perf; -1: unknown. */
int import_program(const char *path);

/* Readers of lines. Their functions return -1 with err when a limit is exceeded. */
struct nccl_text {
    struct import *import;
    size_t half;       /* columns of a placement */
    size_t behind;     /* words after the placements */
    bool is_delta;     /* the last column is a difference, not a number of elements */
    bool has_cpu_time; /* rows contain the CPU time instead of the elapsed time */
    bool is_in_rows;   /* between the columns' names and the end */
    struct heading heading;
};
void nccl_text_init(struct nccl_text *reader, struct import *import);
/* is_broken: a line of NCCL's log interrupts the line. */
int nccl_text_line(struct nccl_text *reader, struct import_line *line, bool is_broken,
                   struct error *err);

struct osu_text {
    struct import *import;
    int dtype;
    bool is_open;  /* the current lines are OSU's */
    bool is_known; /* of a known collective, the last table's */
    bool has_full, has_validation;
    size_t behind; /* number of prefix words on each line */
};
void osu_text_init(struct osu_text *reader, struct import *import);
int osu_text_line(struct osu_text *reader, struct import_line *line, struct error *err);

/* Read a file that begins with a brace. */
int nccl_json_read(struct import *import, const char *text, size_t len,
                   struct error *err);

#endif
