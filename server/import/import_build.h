/* SPDX-License-Identifier: Apache-2.0 */
/* import_build.h - builds tables, rows and ranks for the readers of all formats */
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
    /* Copy of the text, in which the words are NUL-terminated */
    char copy[IMPORT_LINE_SIZE];
    char *words[IMPORT_WORDS_MAX];
    size_t n_words;
};

/* Append a table in which every value is unknown. Returns NULL with err if there are too
 * many tables. */
struct import_table *import_add_table(struct import *import, enum import_format format,
                                      struct error *err);

/* Append a row to the last table. -1 with err if there are too many rows. */
int import_add_row(struct import *import, const struct import_row *row,
                   struct error *err);

/* Add `ranks` ranks on a node to the last table. The node's name is cleaned and
 * truncated. bus: PCI bus id of the device, or "" if unknown. Ranks never share a device.
 * A rank with the same device as its host's first rank is therefore on another host with
 * the same name. Returns -1 with err if there are too many ranks or nodes. */
int import_add_rank(struct import *import, const char *node, const char *bus, int ranks,
                    struct error *err);

/* Forget the table's ranks, because the file repeats the list from its start. */
void import_restart_ranks(struct import *import);

/* Drop the first `n` words of the line. */
void import_drop_words(struct import_line *line, size_t n);

/* Return the data type with this name in nccl-tests or rccl-tests; -1: unknown. */
int import_dtype(const char *word);

/* Return the start of a number in a word, after any prefix that a launcher attached, or
 * NULL if there is none. */
char *import_count_in(char *word, uint64_t *value);

/* Set the device of the last table's ranks, if it is not set yet. */
void import_set_device(struct import *import, const char *device);

/* Record an unreadable row of the last table, or another unreadable line, with its line
 * number or JSON pointer. */
void import_note_row(struct import *import, long line, const char *detail);
void import_note_pointer(struct import *import, const char *pointer, const char *detail);
void import_note_line(struct import *import, long line, const char *detail);

/* Parse a whole word as a number. Return false if the word is not a number or is out of
 * range. */
bool import_number(const char *word, double *value); /* finite and not negative */
bool import_count(const char *word, uint64_t *value);

/* Return the number after `label`, or -1 if there is none. */
long import_number_after(const char *text, const char *label);

/* Write NCCL's version code as text, such as "2.28.9". */
void import_library(long code, char out[IMPORT_VERSION_SIZE]);

/* Return the collective that a program's path names, such as .../all_reduce_perf; -1:
 * unknown. */
int import_program(const char *path);

/* Readers of text lines. Their functions return -1 with err when a limit is exceeded. */
struct nccl_text {
    struct import *import;
    size_t half;   /* columns per placement */
    size_t behind; /* number of words after the last placement in a row */
    bool is_delta; /* the last column is a difference, not a count of wrong elements */
    bool has_cpu_time; /* rows contain CPU times instead of elapsed times */
    bool is_in_rows; /* the reader is between the columns' names and the closing lines */
    struct heading heading;
};
void nccl_text_init(struct nccl_text *reader, struct import *import);
/* Read a line. is_broken: output of NCCL's log interrupted the line. */
int nccl_text_line(struct nccl_text *reader, struct import_line *line, bool is_broken,
                   struct error *err);

struct osu_text {
    struct import *import;
    int dtype;
    bool is_open;  /* the current lines are output of an OSU benchmark */
    bool is_known; /* ringbench supports the collective of the current table */
    bool has_full, has_validation;
    /* number of words before the data in each line, such as a launcher's prefix */
    size_t behind;
};
void osu_text_init(struct osu_text *reader, struct import *import);
int osu_text_line(struct osu_text *reader, struct import_line *line, struct error *err);

/* Read a file that begins with a brace: nccl-tests' JSON. */
int nccl_json_read(struct import *import, const char *text, size_t len,
                   struct error *err);

#endif
