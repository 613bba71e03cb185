/* SPDX-License-Identifier: Apache-2.0 */
/* import_build.c - builds tables, rows and ranks while a file is read */
#include "server/import/import_build.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/memory.h"
#include "common/spec/collective.h"

#define WHAT "an imported file" /* named in the out-of-memory message */

static struct import_table *last(struct import *import)
{
    assert(import->n_tables > 0);
    return &import->tables[import->n_tables - 1];
}

const struct import_setting import_settings[IMPORT_SETTINGS] = {
    [IMPORT_WARMUP] = {"warmup iters: ", "warmup_iters", NULL, "warmup", 0},
    [IMPORT_ITERS] = {" iters: ", "iterations", NULL, "iters", 1},
    [IMPORT_AGG_ITERS] = {"agg iters: ", "aggregated_iterations", NULL, "agg_iters", 1},
    [IMPORT_CHECK] = {"validation: ", "validation", NULL, "check", 0},
    [IMPORT_GRAPH] = {"graph: ", "graph", "nccl", "graph", 1},
    [IMPORT_UNALIGN] = {"unalign: ", "unalign", NULL, "unalign", 0},
};

struct import_table *import_add_table(struct import *import, enum import_format format,
                                      struct error *err)
{
    if (import->n_tables == IMPORT_TABLES_MAX) {
        error_set(err, ERROR_LIMIT, "there are more than %d tables", IMPORT_TABLES_MAX);
        return NULL;
    }
    import->tables = memory_grown(import->tables, import->n_tables, &import->capacity,
                                  sizeof(*import->tables), WHAT);
    import->tables[import->n_tables++] = (struct import_table){
        .format = format,
        .collective = -1,
        .groups = 1,
        .out_of_bounds = -1,
    };
    for (size_t i = 0; i < IMPORT_SETTINGS; i++)
        last(import)->settings[i] = -1;
    return last(import);
}

static bool same_series(const struct import_row *a, const struct import_row *b)
{
    return a->dtype == b->dtype && a->redop == b->redop && a->root == b->root &&
           a->in_place == b->in_place;
}

/* Return the number of earlier rows with this series and size. Sizes rise within a sweep,
 * so the last row of the series usually determines the number. */
static int cycle_of(const struct import_table *table, const struct import_row *row)
{
    bool is_last = true;

    for (size_t i = row->size ? table->n_rows : 0; i > 0; i--) {
        const struct import_row *other = &table->rows[i - 1];

        if (!same_series(other, row))
            continue;
        if (is_last && other->size < row->size)
            return other->cycle;
        if (other->size == row->size)
            return other->cycle + 1;
        is_last = false;
    }
    return 0;
}

int import_add_row(struct import *import, const struct import_row *row, struct error *err)
{
    struct import_table *table = last(import);

    if (import->n_rows == IMPORT_ROWS_MAX)
        return error_set(err, ERROR_LIMIT, "there are more than %d rows",
                         IMPORT_ROWS_MAX);
    table->rows = memory_grown(table->rows, table->n_rows, &table->rows_capacity,
                               sizeof(*row), WHAT);
    table->rows[table->n_rows] = *row;
    table->rows[table->n_rows].cycle = cycle_of(table, row);
    table->n_rows++;
    import->n_rows++;
    return 0;
}

/* Find the last node with this host name. Return NULL if that node's first rank uses the
 * same device as this rank, because the rank is then on another host with the same name.
 */
static struct import_node *node_of(struct import_table *table, const char *host,
                                   const char *bus, size_t *n_alike)
{
    struct import_node *found = NULL;

    *n_alike = 0;
    for (size_t i = 0; i < table->n_nodes; i++)
        if (strcmp(table->nodes[i].host, host) == 0) {
            found = &table->nodes[i];
            ++*n_alike;
        }
    return found && *bus && strcmp(found->bus, bus) == 0 ? NULL : found;
}

int import_add_rank(struct import *import, const char *node, const char *bus, int ranks,
                    struct error *err)
{
    struct import_table *table = last(import);
    char name[IMPORT_NAME_SIZE];
    struct import_node *known;
    size_t n_alike;

    if (ranks > IMPORT_RANKS_MAX - table->ranks)
        return error_set(err, ERROR_LIMIT, "there are more than %d ranks",
                         IMPORT_RANKS_MAX);
    clean_text_copy(name, sizeof(name), node, strlen(node));
    table->ranks += ranks;
    known = node_of(table, name, bus, &n_alike);
    if (known) {
        known->ranks += ranks;
        return 0;
    }
    if (table->n_nodes == IMPORT_NODES_MAX)
        return error_set(err, ERROR_LIMIT, "there are more than %d nodes",
                         IMPORT_NODES_MAX);
    table->nodes = memory_grown(table->nodes, table->n_nodes, &table->nodes_capacity,
                                sizeof(*known), WHAT);
    known = &table->nodes[table->n_nodes++];
    *known = (struct import_node){.ranks = ranks};
    snprintf(known->host, sizeof(known->host), "%s", name);
    snprintf(known->bus, sizeof(known->bus), "%s", bus);
    if (n_alike > 0)
        snprintf(known->name, sizeof(known->name), "%.50s#%zu", name, n_alike + 1);
    else
        snprintf(known->name, sizeof(known->name), "%s", name);
    return 0;
}

void import_restart_ranks(struct import *import)
{
    struct import_table *table = last(import);

    table->n_nodes = 0;
    table->ranks = table->ranks_from = 0;
}

void import_drop_words(struct import_line *line, size_t n)
{
    line->n_words -= n;
    memmove(line->words, line->words + n, line->n_words * sizeof(line->words[0]));
}

int import_dtype(const char *word)
{
    return strcmp(word, "fp8_e4m3") == 0   ? DTYPE_FLOAT8E4M3
           : strcmp(word, "fp8_e5m2") == 0 ? DTYPE_FLOAT8E5M2
                                           : dtype_lookup_nccl(word);
}

char *import_count_in(char *word, uint64_t *value)
{
    char *at = word + strlen(word);

    while (at > word && isdigit((unsigned char)at[-1]))
        at--;
    if (at > word && !strchr(":>]|\"'", at[-1]))
        return NULL;
    return import_count(at, value) ? at : NULL;
}

void import_set_device(struct import *import, const char *device)
{
    struct import_table *table = last(import);

    if (!*table->device)
        clean_text_copy(table->device, sizeof(table->device), device, strlen(device));
}

static void note(struct import *import, json_t *item, const char *detail)
{
    import->n_unread++;
    json_object_set_new(item, "detail", json_string(detail));
    if (json_array_size(import->unread) < IMPORT_NOTES_MAX)
        json_array_append(import->unread, item);
    json_decref(item);
}

void import_note_line(struct import *import, long line, const char *detail)
{
    note(import, json_pack("{s:I}", "line", (json_int_t)line), detail);
}

void import_note_row(struct import *import, long line, const char *detail)
{
    last(import)->n_unread++;
    import_note_line(import, line, detail);
}

void import_note_pointer(struct import *import, const char *pointer, const char *detail)
{
    last(import)->n_unread++;
    note(import, json_pack("{s:s}", "pointer", pointer), detail);
}

bool import_number(const char *word, double *value)
{
    char *end;

    if (!isdigit((unsigned char)*word))
        return false;
    *value = strtod(word, &end);
    return *end == '\0' && isfinite(*value);
}

bool import_count(const char *word, uint64_t *value)
{
    char *end;

    if (!isdigit((unsigned char)*word))
        return false;
    errno = 0;
    *value = strtoull(word, &end, 10);
    return *end == '\0' && errno == 0 && *value <= INT64_MAX;
}

long import_number_after(const char *text, const char *label)
{
    const char *at = strstr(text, label);
    long value;
    char *end;

    if (!at)
        return -1;
    at += strlen(label);
    value = strtol(at, &end, 10);
    return end == at || value < 0 || value > 1000000000 ? -1 : value;
}

/* Since NCCL 2.9, version codes use two more digits for the minor version (NCCL_VERSION
 * in nccl.h). */
void import_library(long code, char out[IMPORT_VERSION_SIZE])
{
    out[0] = '\0';
    if (code >= 10000)
        snprintf(out, IMPORT_VERSION_SIZE, "%ld.%ld.%ld", code / 10000, code / 100 % 100,
                 code % 100);
    else if (code >= 1000)
        snprintf(out, IMPORT_VERSION_SIZE, "%ld.%ld.%ld", code / 1000, code / 100 % 10,
                 code % 100);
}

int import_program(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *end = strstr(name, "_perf");
    char collective[32];

    if (!end || (size_t)(end - name) >= sizeof(collective))
        return -1;
    snprintf(collective, sizeof(collective), "%.*s", (int)(end - name), name);
    return collective_lookup(collective);
}
