/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - the runs on disk: SQLite in WAL mode behind one writer thread with group
 * commit (synchronous FULL) and three reader threads: for what is read by key, for
 * summaries and pages, which may take long, and for what compares several runs. Calls
 * come from the loop's thread and never block; callbacks run on it. */
#ifndef RINGBENCH_SERVER_STORE_STORE_H
#define RINGBENCH_SERVER_STORE_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/base/histogram.h"
#include "server/store/store_event.h"
#include "server/summary/result_record.h"
#include "server/summary/summary.h"

struct store;
struct store_write;

/* Open or create DIR/ringbench.db (directory made if absent), migrate it, start the
 * threads. Blocks: call it before the loop runs. */
struct store *store_open(uv_loop_t *loop, const char *dir, struct error *err);

/* Finish queued writes (what the disk refuses even then fails), stop the threads, close.
 * Calls made from now on fail. `closed` runs on the loop. */
void store_close(struct store *store, void (*closed)(void *arg), void *arg);

/* From here on delete old runs, each minute, in a write of its own each so that no other
 * write waits long: runs beyond the `runs` newest, and those created more than `days` ago
 * (0: no limit). Runs that have not ended and baselines stay. */
void store_keep(struct store *store, int64_t runs, int64_t days);

/* NULL when writes succeed, the disk has room and no read has met a damaged file; else
 * why not (borrowed; changes). The disk is looked at every second as well, so that a full
 * disk is seen before a write fails: less than 64 MiB free counts as full.
 * RINGBENCH_STORE_RESERVE_BYTES overrides.
 */
const char *store_trouble(const struct store *store);

/* Whether the latest writes succeeded. False: those with `retry` wait. */
bool store_takes_writes(const struct store *store);

/* ---- Writes: what is in one store_write becomes durable together or not at all. ----
 * An operation that cannot be added returns -1 and spoils the write: submitting it fails.
 */

struct store_write *store_write_create(void);

/* Drop a write that will not be submitted. NULL is fine. */
void store_write_destroy(struct store_write *write);

/* Insert or replace a run's row. doc: the run's JSON as GET shows it (borrowed), without
 * its cases as long as it has not ended. Lists show of it what run_listed.h says. */
int store_write_run(struct store_write *write, const char *id, const char *state,
                    const char *name, int64_t created_ms, const json_t *labels,
                    const json_t *doc);

/* Append an event; its id is assigned at commit, counting from 1 per run. body: the
 * event's JSON without id, time and type (borrowed). An event or log line of a run that
 * has no row fails its write with ERROR_NOT_FOUND. */
int store_write_event(struct store_write *write, const char *run, int64_t time_ms,
                      const char *type, const json_t *body);

int store_write_log(struct store_write *write, const char *run, int64_t time_ms,
                    int case_no, int rank, const char *stream, const char *text,
                    size_t len);

/* Remember that events of an agent's boot up to `seq` are stored. Only ever rises; an
 * older seq still says that the boot is alive. */
int store_write_ack(struct store_write *write, const char *boot_id, int64_t seq);

/* Forget an agent's boot of which no event is stored: nothing of it can come twice. */
int store_write_unack(struct store_write *write, const char *boot_id);

#define STORE_BODY_HASH_MAX 64

/* Bind an idempotency key to a run and the hash of its request body. ERROR_CONFLICT when
 * the key is taken. */
int store_write_idempotency(struct store_write *write, const char *key,
                            const char *body_hash, const char *run);

#define STORE_NODE_HISTORY_MAX 100 /* changes kept of a node */

/* Note that a node's state changed. detail: why, or NULL. */
int store_write_node(struct store_write *write, const char *node, int64_t time_ms,
                     const char *state, const char *detail);

#define STORE_JOBS_ENDED_MAX 100 /* jobs kept that have ended */

/* Insert or replace an engine's job. ended_ms: 0 if it has not ended. doc: borrowed. */
int store_write_job(struct store_write *write, const char *id, int64_t ended_ms,
                    const json_t *doc);

/* Insert or replace a watch, or what watches know of a node (server/watches/). doc:
 * borrowed; NULL deletes it. */
int store_write_watched(struct store_write *write, const char *kind, const char *id,
                        const json_t *doc);

/* Disown the results of a case that starts anew: they stay in the log of events, but are
 * in no answer about results and no sum. */
int store_write_disown(struct store_write *write, const char *run, int case_no);

/* Remove a run and all that hangs on it. */
int store_write_delete(struct store_write *write, const char *run);

/* err is NULL on success. events: those of this write, in order, with their ids;
 * borrowed, valid during the call. */
typedef void store_written(void *arg, const struct error *err,
                           const struct store_event *events, size_t n_events);

/* Queue a write (taken, also on failure). With `retry`, a write that fails for want of
 * disk stays at the head of the queue and is tried again every second until it succeeds;
 * without, it fails at once. Order is kept. `done` may be NULL. */
void store_submit(struct store *store, struct store_write *write, bool retry,
                  store_written *done, void *arg);

/* Call `done` when the callers of all writes that were queued before this call were told.
 * At once if there are none, or if the store takes no writes, as it may not for hours. */
typedef void store_settled(void *arg, const struct error *err);
void store_settle(struct store *store, store_settled *done, void *arg);

/* For metrics. Bytes of the database's files, and free on its disk; writes whose callers
 * were not told yet, and how long writes took until they were. */
struct store_counters {
    uint64_t database_bytes, log_bytes, free_bytes;
    size_t writes;
    struct histogram written;
};
void store_counters(const struct store *store, struct store_counters *out);

/* No callback of a write or read is still to come. */
bool store_is_idle(const struct store *store);

/* ---- Reads, by functions of store_work.h ---- */

enum store_runs_sort {
    STORE_RUNS_CREATED,
    STORE_RUNS_DURATION, /* those that have ended after they began */
    STORE_RUNS_FIGURE    /* those that have a headline figure */
};

#define STORE_RUNS_TOTAL_MAX 10000 /* that are counted */

#define STORE_BUT_RESULTS "but results" /* in place of a type */

/* What a rank printed, as it was read from it: one or more lines. */
struct store_log {
    int64_t seq, time_ms;
    int case_no, rank;
    const char *stream, *text;
    size_t len;
};

/* Append it in the form that the asker wants. Runs on the reader's thread; -1 fails. */
typedef int store_log_put(const struct store_log *log, struct buf *out);

struct store_logs_query {
    const char *run;
    int case_no, rank; /* -1: any */
    int64_t after;     /* the last entry of the page before */
    int limit;
    store_log_put *put;
};

/* ---- At start, before the loop runs: these block. ---- */

/* A run. doc: borrowed; without its cases if it has not ended. */
struct store_run {
    const json_t *doc;
    int64_t head, head_ms; /* its latest event: id and time; 0: none */
};

struct store_recall;

/* Call `take` for each run whose state is not final, or has_ended: for each run, oldest
 * first, until it returns other than 0, having said why: then -1. Memory does not grow
 * with their number, nor with that of their events. */
typedef int store_run_taker(void *arg, struct store_recall *recall,
                            const struct store_run *run, struct error *err);
int store_recall_runs(struct store *store, bool has_ended, store_run_taker *take,
                      void *arg, struct error *err);

/* Within such a call: the run's log, in the order of its events. A result comes as its
 * record (key: see result_record_read), with its body only if it has more than that.
 * Results that were disowned are left out, and those of a case that was gathering its
 * ranks when the server stopped: it starts anew. */
struct store_log_taker {
    void (*event)(void *arg, int64_t time_ms, const char *type, const json_t *body);
    void (*result)(void *arg, const struct result_record *record, const json_t *key,
                   const json_t *body);
};
int store_recall_log(struct store_recall *recall, const char *run,
                     const struct store_log_taker *taker, void *arg, struct error *err);

/* Of the latest `limit` runs that ended, huge ones left out, those whose checks were
 * judged:
 * {"name","ended","verdict"}, newest first. A new array. */
json_t *store_load_verdicts(struct store *store, int limit, struct error *err);

/* The values of the latest `limit` runs that completed (store_trends.h), of each
 * {"name","created_ms","values":[{"figure","value"}]}. A new array. */
json_t *store_load_values(struct store *store, int limit, struct error *err);

/* The docs of the engines' jobs, the oldest first. A new array. */
json_t *store_load_jobs(struct store *store, struct error *err);

/* The docs of store_write_watched, by kind and id. A new array. */
json_t *store_load_watched(struct store *store, struct error *err);

/* ---- Looked up at once, by key: microseconds. ---- */

/* The stored sequence of an agent's boot id; -1 if nothing was ever written for it. -1
 * with err when it can't be read. */
int store_acked(struct store *store, const char *boot_id, int64_t *seq,
                struct error *err);

/* The run bound to an idempotency key within 24 h: copies of the id (ID_RUN_LENGTH + 1
 * bytes) and the hash (STORE_BODY_HASH_MAX + 1). False when there is none, or it can't be
 * read: then a write with the key fails. */
bool store_idempotency(struct store *store, const char *key, char *run, char *body_hash);

#endif
