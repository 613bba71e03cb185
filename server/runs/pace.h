/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - measures the duration of a run's rows and estimates the run's remaining time.
 * Pure functions that use no clock. */
#ifndef RINGBENCH_SERVER_RUNS_PACE_H
#define RINGBENCH_SERVER_RUNS_PACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/collective.h"
#include "common/spec/series.h"

#define PACE_BUCKETS 41 /* powers of two up to 1 TiB */
/* The duration of a size is estimated only up to this factor above the largest measured
 * size. */
#define PACE_REACH 16.0

/* Sums over the rows of one collective with similar sizes. */
struct pace_bucket {
    double bytes, seconds;
    uint32_t rows;
};

struct pace {
    struct pace_bucket buckets[COLLECTIVE_COUNT][PACE_BUCKETS];
    int64_t case_ms;  /* start of the case under way; 0: none */
    int64_t last_ms;  /* time of the case's latest row; 0: none yet */
    int64_t last_row; /* number of the case's latest row; -1: none yet */
    /* sum of the times from a case's start to its first row; `startups` is the number of
     * summands */
    double startup_s;
    uint32_t startups;
    /* sum of the durations of completed cases; `cases` is the number of summands */
    double cases_s;
    uint32_t cases;
};

void pace_init(struct pace *pace);

/* Return a new, initialized struct pace. The caller frees it. */
struct pace *pace_create(void);

/* pace_case_begins() records that a case begins its rendezvous; pace_case_ends() records
 * its end. */
void pace_case_begins(struct pace *pace, int64_t time_ms);
void pace_case_ends(struct pace *pace, int64_t time_ms, bool is_completed);

/* Record a row. about: an object with the row's "collective". row: number of the row in
 * the case; -1: the next one. */
void pace_result(struct pace *pace, int64_t time_ms, const json_t *about, int64_t size,
                 int64_t row);

/* Return the estimated seconds left at now_ms; negative if unknown. plan: for a case's
 * rows, or NULL for a program. cases_ahead: number of cases after the case under way.
 * *basis: the value of eta_basis (docs/reference/api.md), static. */
double pace_eta(const struct pace *pace, const struct series_plan *plan,
                size_t cases_ahead, int64_t now_ms, const char **basis);

#endif
