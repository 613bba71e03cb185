/* SPDX-License-Identifier: Apache-2.0 */
/* import_build.h - what the readers of the formats share */
#ifndef RINGBENCH_SERVER_IMPORT_IMPORT_BUILD_H
#define RINGBENCH_SERVER_IMPORT_IMPORT_BUILD_H

#include "server/import/heading.h"
#include "server/import/import.h"

#define IMPORT_LINE_SIZE 2048
#define IMPORT_WORDS_MAX 64

/* A line and its words. */
struct import_line {
    long number; /* from 1 */
    const char *text;
    char copy[IMPORT_LINE_SIZE]; /* cut there; the words are in it */
    char *words[IMPORT_WORDS_MAX];
    size_t n_words;
};

/* A new last table with nothing told; NULL with err. */
struct import_table *import_add_table(struct import *import, enum import_format format,
                                      struct error *err);

/* Append a row to the last table. -1 with err. */
int import_add_row(struct import *import, const struct import_row *row,
                   struct error *err);

/* Another rank of the last table, on that node (cleaned and cut), of which the bus of the
 * device is known ("": it is not). Two ranks have no device in common: a host of the same
 * name that begins with the same device is another. -1 with err. */
int import_add_rank(struct import *import, const char *node, const char *bus, int ranks,
                    struct error *err);

/* The list of ranks begins anew. */
void import_restart_ranks(struct import *import);

/* Drop the first `n` words of the line. */
void import_drop_words(struct import_line *line, size_t n);

/* A data type of nccl-tests or rccl-tests by its name there; -1: it is none. */
int import_dtype(const char *word);

/* Where a count stands in a word: behind what a launcher puts right before it, or NULL.
 */
char *import_count_in(char *word, uint64_t *value);

/* What the last table's ranks ran on: the first to say so. */
void import_set_device(struct import *import, const char *device);

/* Note what could not be read: a row of the last table by its line or pointer, or another
 * line. */
void import_note_row(struct import *import, long line, const char *detail);
void import_note_pointer(struct import *import, const char *pointer, const char *detail);
void import_note_line(struct import *import, long line, const char *detail);

/* Whole words that are numbers; false: they are none, or out of range. */
bool import_number(const char *word, double *value); /* finite, not below 0 */
bool import_count(const char *word, uint64_t *value);

/* The number behind `label`; -1: there is none. */
long import_number_after(const char *text, const char *label);

/* "2.28.9" of NCCL's version code. */
void import_library(long code, char out[IMPORT_VERSION_SIZE]);

/* The collective of a program's path, such as .../all_reduce_perf; -1: of none. */
int import_program(const char *path);

/* Lines of text. Each returns -1 with err when nothing more can be taken. */
struct nccl_text {
    struct import *import;
    size_t half;       /* columns of a placement */
    size_t behind;     /* words behind them */
    bool is_delta;     /* the last column is a difference, not a number of elements */
    bool has_cpu_time; /* in place of the time */
    bool is_in_rows;   /* the columns were named, and it has not ended */
    struct heading heading;
};
void nccl_text_init(struct nccl_text *reader, struct import *import);
/* is_broken: a line of NCCL's log follows in the line. */
int nccl_text_line(struct nccl_text *reader, struct import_line *line, bool is_broken,
                   struct error *err);

struct osu_text {
    struct import *import;
    int dtype;
    bool is_open;  /* what comes is OSU's */
    bool is_known; /* and of a collective that there is here: the last table */
    bool has_full, has_validation;
    size_t behind; /* words that stand before each line */
};
void osu_text_init(struct osu_text *reader, struct import *import);
int osu_text_line(struct osu_text *reader, struct import_line *line, struct error *err);

/* A file that begins with a brace. */
int nccl_json_read(struct import *import, const char *text, size_t len,
                   struct error *err);

#endif
