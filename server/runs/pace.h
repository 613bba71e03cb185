/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - how long the rows of a run take, and so how long the rest of it will. Pure:
 * knows no clock. */
#ifndef RINGBENCH_SERVER_RUNS_PACE_H
#define RINGBENCH_SERVER_RUNS_PACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/collective.h"
#include "common/spec/series.h"

#define PACE_BUCKETS 41 /* powers of two up to 1 TiB */
/* A size so many times larger than any that was measured is beyond guessing. */
#define PACE_REACH 16.0

/* Rows of one collective and nearly one size: sums. */
struct pace_bucket {
    double bytes, seconds;
    uint32_t rows;
};

struct pace {
    struct pace_bucket buckets[COLLECTIVE_COUNT][PACE_BUCKETS];
    int64_t case_ms;  /* since when a case is under way; 0: none is */
    int64_t last_ms;  /* its latest row; 0: none yet */
    int64_t last_row; /* that row's number; -1: none yet */
    double startup_s; /* from a case's start to its first row: sum and number */
    uint32_t startups;
    double cases_s; /* of cases that completed: sum and number */
    uint32_t cases;
};

void pace_init(struct pace *pace);

/* To be freed. */
struct pace *pace_create(void);

/* A case begins its rendezvous, or has ended. */
void pace_case_begins(struct pace *pace, int64_t time_ms);
void pace_case_ends(struct pace *pace, int64_t time_ms, bool is_completed);

/* A row. about: has its "collective". row: its number within the case; -1: the next. */
void pace_result(struct pace *pace, int64_t time_ms, const json_t *about, int64_t size,
                 int64_t row);

/* The seconds that are likely to be left at now_ms; negative: nobody can say. plan: of a
 * case's rows, or NULL for a program. cases_ahead: beyond the one under way. *basis: the
 * word of docs/reference/api.md, static. */
double pace_eta(const struct pace *pace, const struct series_plan *plan,
                size_t cases_ahead, int64_t now_ms, const char **basis);

#endif
