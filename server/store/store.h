/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - stores runs on disk, in a SQLite database in WAL mode. One writer thread
 * commits groups of writes (synchronous FULL), and three threads read (enum
 * store_thread). All functions are called on the loop's thread and never block unless
 * their comments say so. Callbacks run on the loop's thread. */
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

/* Open DIR/ringbench.db, or create it and its directory, check its version, and start the
 * threads. This blocks: call it before the loop runs. */
struct store *store_open(uv_loop_t *loop, const char *dir, struct error *err);

/* Finish queued writes, stop the threads, and close the database. Writes that the disk
 * still refuses fail, and so do later calls. `closed` runs on the loop. */
void store_close(struct store *store, void (*closed)(void *arg), void *arg);

/* Start to delete old runs once a minute: runs beyond the `runs` newest, and runs created
 * more than `days` ago (0: no limit). Each run is deleted in its own write, so that other
 * writes do not wait long. Unfinished runs and baselines stay. */
void store_keep(struct store *store, int64_t runs, int64_t days);

/* Return the reason why the store does not work; NULL if writes succeed, the disk has
 * space, and no read has found a damaged file. The text is borrowed and may change later.
 * The disk is checked every second, so that a full disk is noticed before a write fails.
 * A disk counts as full with less than 64 MiB free; RINGBENCH_STORE_RESERVE_BYTES
 * overrides the limit. */
const char *store_trouble(const struct store *store);

/* True if the latest writes succeeded. While it is false, writes with `retry` wait. */
bool store_takes_writes(const struct store *store);

/* ---- Writes ----
 * The operations of one store_write become durable together or not at all. An operation
 * that cannot be added returns -1, and submitting its write fails. */

struct store_write *store_write_create(void);

/* Free a write that will not be submitted. NULL is ignored. */
void store_write_destroy(struct store_write *write);

/* Insert or replace a run's row. doc: the run's JSON as GET returns it (borrowed),
 * without cases if the run has not ended. Lists show a shortened copy (run_listed.h). */
int store_write_run(struct store_write *write, const char *id, const char *state,
                    const char *name, int64_t created_ms, const json_t *labels,
                    const json_t *doc);

/* Append an event. Its id, counted from 1 for each run, is assigned at commit. body: the
 * event's JSON without id, time and type (borrowed). If the run has no row, a write with
 * an event or log line fails with ERROR_NOT_FOUND. */
int store_write_event(struct store_write *write, const char *run, int64_t time_ms,
                      const char *type, const json_t *body);

int store_write_log(struct store_write *write, const char *run, int64_t time_ms,
                    int case_no, int rank, const char *stream, const char *text,
                    size_t len);

/* Record that the events of an agent's boot ID up to `seq` are stored. The stored number
 * never decreases. An older seq only renews the record, so that it is not deleted because
 * of its age. */
int store_write_ack(struct store_write *write, const char *boot_id, int64_t seq);

/* Delete the record of an agent's boot ID without stored events, because it is not needed
 * for deduplication. */
int store_write_unack(struct store_write *write, const char *boot_id);

#define STORE_BODY_HASH_MAX 64

/* Assign an idempotency key to a run, and store the hash of the request's body with it.
 * The write fails with ERROR_CONFLICT if the key is used already. */
int store_write_idempotency(struct store_write *write, const char *key,
                            const char *body_hash, const char *run);

#define STORE_NODE_HISTORY_MAX 100 /* maximum number of state changes kept per node */

/* Record that a node's state changed. detail: the reason, or NULL. */
int store_write_node(struct store_write *write, const char *node, int64_t time_ms,
                     const char *state, const char *detail);

#define STORE_JOBS_ENDED_MAX 100 /* maximum number of ended jobs that are kept */

/* Insert or replace a batch engine's job. ended_ms: 0 if it has not ended. doc: borrowed.
 */
int store_write_job(struct store_write *write, const char *id, int64_t ended_ms,
                    const json_t *doc);

/* Insert or replace the document of a watch, or of a node's state as kept by watches
 * (server/watches/). doc: borrowed; NULL deletes the document. */
int store_write_watched(struct store_write *write, const char *kind, const char *id,
                        const json_t *doc);

/* When a case starts again, mark its earlier results as disowned. They stay in the event
 * log, but sums and answers about results exclude them. */
int store_write_disown(struct store_write *write, const char *run, int case_no);

/* Delete a run and everything stored for it. */
int store_write_delete(struct store_write *write, const char *run);

/* Called after a write. err: NULL on success. events: the write's events in order, with
 * their ids; borrowed, valid during the call. */
typedef void store_written(void *arg, const struct error *err,
                           const struct store_event *events, size_t n_events);

/* Queue a write and take ownership of it, even on failure. With `retry`, a write that the
 * disk refuses stays at the head of the queue and is retried every second. Without
 * `retry`, it fails at once. Writes keep their order. `done` may be NULL. */
void store_submit(struct store *store, struct store_write *write, bool retry,
                  store_written *done, void *arg);

/* Call `done` after the callbacks of all writes that are queued now. `done` is called
 * at once if no writes are queued, or if the store accepts no writes, which can last
 * hours. */
typedef void store_settled(void *arg, const struct error *err);
void store_settle(struct store *store, store_settled *done, void *arg);

/* For metrics: bytes of the database's files, bytes free on its disk, writes whose
 * callbacks have not run yet, and times from a write's submission to its callback. */
struct store_counters {
    uint64_t database_bytes, log_bytes, free_bytes;
    size_t writes;
    struct histogram written;
};
void store_counters(const struct store *store, struct store_counters *out);

/* True if no callback of a write or read is outstanding. */
bool store_is_idle(const struct store *store);

/* ---- Reads, by functions of store_work.h ---- */

enum store_runs_sort {
    STORE_RUNS_CREATED,
    STORE_RUNS_DURATION, /* only runs that started and ended */
    STORE_RUNS_FIGURE    /* only runs with a headline figure */
};

#define STORE_RUNS_TOTAL_MAX 10000 /* counting the matching runs stops at this number */

/* a pseudo type for store_get_events: all events except results */
#define STORE_BUT_RESULTS "but results"

/* A piece of a rank's output as the agent read it: one or more lines. */
struct store_log {
    int64_t seq, time_ms;
    int case_no, rank;
    const char *stream, *text;
    size_t len;
};

/* Append the entry in the answer's format. Runs on the reader's thread. Returning -1
 * makes the read fail. */
typedef int store_log_put(const struct store_log *log, struct buf *out);

struct store_logs_query {
    const char *run;
    int case_no, rank; /* -1: any */
    int64_t after;     /* seq of the previous page's last entry */
    int limit;
    store_log_put *put;
};

/* ---- At start, before the loop runs: these block. ---- */

/* A stored run. doc: borrowed; lacks the cases if the run has not ended. */
struct store_run {
    const json_t *doc;
    int64_t head, head_ms; /* id and time of the run's latest event; 0: none */
};

struct store_recall;

/* Call `take` for each unfinished run, or for every run if has_ended is set, starting
 * with the oldest run. If `take` sets err and returns a nonzero value, stop and return
 * -1. Documents and events are read one at a time, so memory use does not grow with their
 * number. */
typedef int store_run_taker(void *arg, struct store_recall *recall,
                            const struct store_run *run, struct error *err);
int store_recall_runs(struct store *store, bool has_ended, store_run_taker *take,
                      void *arg, struct error *err);

/* For use in `take`: read the run's log in the order of its events. A result is passed as
 * its record (key: see result_record_read); its body is passed only if it contains more
 * than the record. Two kinds of results are skipped: disowned results, and results of
 * cases that were in rendezvous when the server stopped, because these cases start again.
 */
struct store_log_taker {
    void (*event)(void *arg, int64_t time_ms, const char *type, const json_t *body);
    void (*result)(void *arg, const struct result_record *record, const json_t *key,
                   const json_t *body);
};
int store_recall_log(struct store_recall *recall, const char *run,
                     const struct store_log_taker *taker, void *arg, struct error *err);

/* Return the gate verdicts of the latest `limit` ended runs, newest first:
 * {"name","ended","verdict"}. Runs whose documents exceed 1 MiB are skipped. A new
 * array. */
json_t *store_load_verdicts(struct store *store, int limit, struct error *err);

/* Return the values of the latest `limit` completed runs (store_trends.h). Each run is
 * {"name","created_ms","backend","values":[{"figure","value"}]}. A new array. */
json_t *store_load_values(struct store *store, int limit, struct error *err);

/* Return the documents of the batch engines' jobs, oldest first. A new array. */
json_t *store_load_jobs(struct store *store, struct error *err);

/* Return the documents of store_write_watched(), sorted by kind and ID. A new array. */
json_t *store_load_watched(struct store *store, struct error *err);

/* ---- Lookups by key on the loop's thread: microseconds ---- */

/* Set *seq to the last stored sequence number of an agent's boot ID, or to -1 if none of
 * its events was stored. Returns -1 with err if the database cannot be read. */
int store_acked(struct store *store, const char *boot_id, int64_t *seq,
                struct error *err);

/* Find the run to which an idempotency key was assigned within the last 24 h. Copies the
 * run's ID (ID_RUN_LENGTH + 1 bytes) and the request's hash (STORE_BODY_HASH_MAX + 1
 * bytes). Returns false if there is no such run, or if the database cannot be read. In
 * the latter case, a write with the key fails. */
bool store_idempotency(struct store *store, const char *key, char *run, char *body_hash);

#endif
