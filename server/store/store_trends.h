/* SPDX-License-Identifier: Apache-2.0 */
/* store_trends.h - what runs came to: a value for each of their figures, by which they
 * are found again over all runs; and the runs that somebody accepted as baselines.
 *
 * A run that has ended is due: it stands in a table until its values are written, so that
 * no crash and no older server leaves one out. Texts say what is the same in many runs
 * (analysis/likeness.h makes them) and are kept once each. */
#ifndef RINGBENCH_SERVER_STORE_STORE_TRENDS_H
#define RINGBENCH_SERVER_STORE_STORE_TRENDS_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/spec/run_spec.h"
#include "server/store/store.h"

/* ---- Values ---- */

/* Put these in the place of the run's values, of which none is due then. values:
 * {"name","created_ms","is_whole","nodes","backend","world_size","versions","values":[{"figure",
 * "like_nodes","like_hardware","cases","value","low","high","least","most"}]}, where
 * nodes, versions, figure and the two likenesses are texts, low and high may be null, and
 * is_whole says whether the run completed. */
int store_write_values(struct store_write *write, const char *run, const json_t *values);

/* A run whose values are due, if `run` is NULL the newest but for `skip` of them: its
 * document, or null. */
json_t *store_get_due(sqlite3 *db, const char *run, size_t skip, struct error *err);

/* Have the values of all runs made anew; store_open does so when values were made in
 * another way (STORE_VALUES_VERSION). */
#define STORE_VALUES_VERSION 2

/* ---- Trends ---- */

/* Values among which changes are looked for: the latest 200 of each series. */
#define STORE_TREND_WINDOW 10000

struct store_trends_query {
    const char *figure;
    const char *nodes;          /* names as in the values; NULL: any */
    const char *backend;        /* or NULL */
    const char *like;           /* a run: only those that are like it; NULL: any */
    enum run_likeness likeness; /* by which they are like it */
    int world_size;             /* 0: any */
    int64_t since_ms, until_ms; /* when runs were created; 0: whenever */
    int per_line;               /* so many of each series' latest points; 0: any number */
    const char *cursor;
    int limit;
};

/* {"points":[{"run","name","state","created","value","low","high","least","most","cases",
 * "series","like","versions"}], newest first, "next": cursor or null, "window":[[series,
 * value, run, created_ms, versions]...], newest first, whatever the cursor, "texts":
 * {number: text} of its versions}. like and versions of points are JSON, series is the
 * number of the likeness. ERROR_INVALID for a bad cursor, ERROR_NOT_FOUND when `like` has
 * no values. */
json_t *store_get_trends(sqlite3 *db, const struct store_trends_query *query,
                         struct error *err);

/* ---- Baselines ---- */

struct store_baseline {
    const char *id, *run;
    const char *by, *why; /* who, and why; peer: from which address */
    const char *peer;
    enum run_likeness likeness;
    int64_t time_ms;
};

/* ERROR_NOT_FOUND when there is no such run. A run cannot be deleted (ERROR_CONFLICT)
 * while it is a baseline. */
int store_write_baseline(struct store_write *write,
                         const struct store_baseline *baseline);

/* It stays in the list, as removed: by whom, why, when, from where. ERROR_CONFLICT when
 * it is no baseline any more. Of `baseline` run and likeness are not looked at. */
int store_write_baseline_end(struct store_write *write,
                             const struct store_baseline *baseline);

/* {"baselines":[{"id","run","name","like":"nodes"|"hardware","by","why","from","accepted",
 * "removed":null|{"by","why","from","time"}}], newest first, "next"}. params (taken) are
 * those of GET /baselines, or "id": this one alone, removed or not. */
json_t *store_get_baselines(sqlite3 *db, json_t *params, struct error *err);

/* What a run is compared with: {"baseline": as above or null, "runs": [ids], "history":
 * [ids]}, newest first. With `last` 0 that is the newest baseline that the run is like in
 * any of its figures, and its run; else at most so many completed runs before it that it
 * is like, from the newest such baseline on if there is one. The history is of further
 * runs like these from before the run: they say how runs scatter. A run whose gate failed
 * counts only where it was accepted. The run's own values must not be due.
 *
 * With `values`, those of a completed run that are not stored yet, there is also
 * "series":
 * [{"figure", "runs": [[run, value]...]}]: for each of the run's series the latest
 * completed runs up to it, oldest first, at most STORE_SERIES_RUNS. */
#define STORE_HISTORY 20
#define STORE_SERIES_RUNS 400
struct store_base_query {
    const char *run;
    const char *base; /* a run: this one, with its history; NULL: as above */
    int last;
    json_t *values; /* of the run, as store_write_values takes them, borrowed; or NULL */
    enum run_likeness likeness; /* of the last runs; a baseline has its own */
};
json_t *store_get_base(sqlite3 *db, const struct store_base_query *query,
                       struct error *err);

#endif
