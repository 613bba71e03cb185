/* SPDX-License-Identifier: Apache-2.0 */
/* store_trends.h - stores trends, which consist of a value for each figure of each run,
 * and baselines, which are runs that a person accepted as reference.
 *
 * An ended run is due until its values are stored: it is in the table values_due, so that
 * a crash or an older server does not lose it. Texts describe the properties that similar
 * runs share (analysis/likeness.h makes the texts). Each text is stored once. */
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

/* Return the document of a run whose values are due, or null. run: NULL selects the
 * newest such run after skipping `skip` newer ones. */
json_t *store_get_due(sqlite3 *db, const char *run, size_t skip, struct error *err);

/* Raise this number when values are computed differently. store_open() then marks all
 * ended runs as due. */
#define STORE_VALUES_VERSION 2

/* ---- Trends ---- */

/* Maximum number of values, over all series, that are searched for changes. In each
 * series, only the latest 200 values are searched. */
#define STORE_TREND_WINDOW 10000

struct store_trends_query {
    const char *figure;
    const char *nodes;   /* text of node names as in the stored values; NULL: any */
    const char *backend; /* or NULL */
    const char *like;    /* only runs that are similar to this run; NULL: any */
    /* properties that similar runs share: nodes or hardware */
    enum run_likeness likeness;
    int world_size;             /* 0: any */
    int64_t since_ms, until_ms; /* range of the runs' creation times; 0: no limit */
    int per_line;               /* number of latest points of each series; 0: all */
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
    /* who accepted or removed the baseline, and why; peer: the client's address */
    const char *by, *why;
    const char *peer;
    enum run_likeness likeness;
    int64_t time_ms;
};

/* Store a baseline. ERROR_NOT_FOUND if there is no such run. The run of a baseline cannot
 * be deleted (ERROR_CONFLICT). */
int store_write_baseline(struct store_write *write,
                         const struct store_baseline *baseline);

/* Mark a baseline as removed, with user, reason, time and address. It stays in the list.
 * ERROR_CONFLICT if it was removed before. The members run and likeness of `baseline` are
 * ignored. */
int store_write_baseline_end(struct store_write *write,
                             const struct store_baseline *baseline);

/* {"baselines":[{"id","run","name","like":"nodes"|"hardware","by","why","from","accepted",
 * "removed":null|{"by","why","from","time"}}], newest first, "next"}. params (taken) are
 * those of GET /baselines, or "id": only this one, removed or not. */
json_t *store_get_baselines(sqlite3 *db, json_t *params, struct error *err);

/* Return the runs with which a run is compared, newest first: {"baseline": as above or
 * null, "runs": [ids], "history": [ids]}. With `last` 0, they are the run of the newest
 * baseline that is similar to the run in any figure. Otherwise they are at most `last`
 * earlier completed runs that are similar to the run, starting at the newest such
 * baseline if there is one. The history contains earlier runs similar to these, which
 * show how much results scatter between runs. A run whose gate failed counts only if it
 * was accepted as baseline. The run's own values must not be due.
 *
 * `values` are the values of a completed run that are not stored yet. If set, the answer
 * also contains "series": [{"figure", "runs": [[run, value]...]}]. For each of the run's
 * series, it lists the latest completed runs up to the run, oldest first, at most
 * STORE_SERIES_RUNS. */
#define STORE_HISTORY 20
#define STORE_SERIES_RUNS 400
struct store_base_query {
    const char *run;
    /* compare with this run and its history; NULL: find the base as described above */
    const char *base;
    int last;
    /* the run's values in the form of store_write_values(), borrowed; or NULL */
    json_t *values;
    /* likeness of the `last` runs; a baseline contains its own likeness */
    enum run_likeness likeness;
};
json_t *store_get_base(sqlite3 *db, const struct store_base_query *query,
                       struct error *err);

#endif
