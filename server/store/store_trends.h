/* SPDX-License-Identifier: Apache-2.0 */
/* store_trends.h - trends: a value for each figure of each run; and the runs that
 * somebody accepted as baselines.
 *
 * A run that has ended is due: it stays in the table values_due until its values are
 * written, so that neither a crash nor an older server loses it. Texts describe what runs
 * have in common (analysis/likeness.h makes them); each is stored once. */
#ifndef RINGBENCH_SERVER_STORE_STORE_TRENDS_H
#define RINGBENCH_SERVER_STORE_STORE_TRENDS_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/spec/run_spec.h"
#include "server/store/store.h"

/* ---- Values ---- */

/* Replace the run's values; the run is no longer due. values:
 * {"name","created_ms","is_whole","nodes","backend","world_size","versions",
 * "values":[{"figure","like_nodes","like_hardware","cases","value","low","high","least",
 * "most"}]}. nodes, versions, figure and both likenesses are texts; low and high may be
 * null; is_whole is true if the run completed. */
int store_write_values(struct store_write *write, const char *run, const json_t *values);

/* The document of a run whose values are due, or null. run: NULL for the newest after
 * `skip` others. */
json_t *store_get_due(sqlite3 *db, const char *run, size_t skip, struct error *err);

/* To be raised when values are computed differently: store_open then marks all ended runs
 * as due. */
#define STORE_VALUES_VERSION 2

/* ---- Trends ---- */

/* Values that are searched for changes: the latest 200 of each series, this many in all.
 */
#define STORE_TREND_WINDOW 10000

struct store_trends_query {
    const char *figure;
    const char *nodes;          /* names as in the values; NULL: any */
    const char *backend;        /* or NULL */
    const char *like;           /* only runs like this run; NULL: any */
    enum run_likeness likeness; /* the kind of likeness */
    int world_size;             /* 0: any */
    int64_t since_ms, until_ms; /* when runs were created; 0: no limit */
    int per_line;               /* latest points of each series; 0: all */
    const char *cursor;
    int limit;
};

/* {"points":[{"run","name","state","created","value","low","high","least","most","cases",
 * "series","like","versions"}], newest first, "next": cursor or null, "window":[[series,
 * value, run, created_ms, versions]...], newest first, the same for every cursor,
 * "texts": {number: text} of the window's versions}. like and versions of points are
 * JSON; series is the number of the likeness. ERROR_INVALID for a bad cursor,
 * ERROR_NOT_FOUND when `like` has no values. */
json_t *store_get_trends(sqlite3 *db, const struct store_trends_query *query,
                         struct error *err);

/* ---- Baselines ---- */

struct store_baseline {
    const char *id, *run;
    const char *by, *why; /* who, and why; peer: the client's address */
    const char *peer;
    enum run_likeness likeness;
    int64_t time_ms;
};

/* ERROR_NOT_FOUND if there is no such run. A baseline's run cannot be deleted
 * (ERROR_CONFLICT). */
int store_write_baseline(struct store_write *write,
                         const struct store_baseline *baseline);

/* Mark a baseline as removed: by whom, why, when, from where. It stays in the list.
 * ERROR_CONFLICT if it was removed before. run and likeness of `baseline` are ignored. */
int store_write_baseline_end(struct store_write *write,
                             const struct store_baseline *baseline);

/* {"baselines":[{"id","run","name","like":"nodes"|"hardware","by","why","from","accepted",
 * "removed":null|{"by","why","from","time"}}], newest first, "next"}. params (taken) are
 * those of GET /baselines, or "id": only this one, removed or not. */
json_t *store_get_baselines(sqlite3 *db, json_t *params, struct error *err);

/* The runs that a run is compared with: {"baseline": as above or null, "runs": [ids],
 * "history": [ids]}, newest first. With `last` 0: the newest baseline that the run is
 * like in any of its figures, and the baseline's run. Otherwise at most `last` earlier
 * completed runs that the run is like, starting at the newest such baseline if there is
 * one. The history contains earlier runs like these, which show how much runs scatter. A
 * run whose gate failed counts only if it was accepted. The run's own values must not be
 * due.
 *
 * With `values`, those of a completed run that are not stored yet, there is also
 * "series":
 * [{"figure", "runs": [[run, value]...]}]: for each of the run's series the latest
 * completed runs up to it, oldest first, at most STORE_SERIES_RUNS. */
#define STORE_HISTORY 20
#define STORE_SERIES_RUNS 400
struct store_base_query {
    const char *run;
    const char *base; /* compare with this run and its history; NULL: as above */
    int last;
    json_t *values; /* the run's, as for store_write_values, borrowed; or NULL */
    enum run_likeness likeness; /* of the `last` runs; a baseline has its own */
};
json_t *store_get_base(sqlite3 *db, const struct store_base_query *query,
                       struct error *err);

#endif
