/* store_chunks.c - the records of a run's results in the database, in chunks */
#include "server/store/store_chunks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* uthash's default function does not build without warnings. */
#define HASH_FUNCTION HASH_FNV
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->is_lost = true)
#include <uthash.h>

#include "common/base/log.h"
#include "server/store/store_sql.h"

/* Runs whose keys and last chunk are kept in memory between transactions. */
#define RUNS_KEPT 16

enum {
    SQL_LAST,
    SQL_KEYS,
    SQL_ADD_KEY,
    SQL_PUT,
    SQL_BEFORE,
    SQL_DROP,
    SQL_DISOWN,
    SQL_COUNT
};

static const char *const statements[SQL_COUNT] = {
    [SQL_LAST] = "SELECT first_id, records FROM result_chunks WHERE run = ?1"
                 " ORDER BY first_id DESC LIMIT 1",
    [SQL_KEYS] = "SELECT key, text FROM result_keys WHERE run = ?1",
    [SQL_ADD_KEY] = "INSERT INTO result_keys (run, key, text) VALUES (?1, ?2, ?3)",
    [SQL_PUT] = "INSERT INTO result_chunks (run, first_id, records) VALUES (?1, ?2, ?3)"
                " ON CONFLICT (run, first_id) DO UPDATE SET records = ?3",
    [SQL_BEFORE] = "SELECT first_id, records FROM result_chunks WHERE run = ?1"
                   " AND first_id < ?2 ORDER BY first_id DESC LIMIT 1",
    [SQL_DROP] = "DELETE FROM result_chunks WHERE run = ?1 AND first_id = ?2",
    [SQL_DISOWN] = "UPDATE events SET type = 'disowned' WHERE run = ?1 AND id = ?2",
};

struct run_key {
    UT_hash_handle hh;
    int32_t number;
    bool is_lost;
    char text[];
};

struct run_chunks {
    struct run_chunks *next; /* the latest used first */
    struct run_key *keys;
    int32_t n_keys;
    int64_t first_id; /* of the chunk that grows */
    size_t n;
    bool is_dirty;
    struct result_record records[STORE_CHUNK_RECORDS];
    char run[];
};

struct store_chunks {
    sqlite3_stmt *stmts[SQL_COUNT];
    struct run_chunks *runs;
};

struct store_chunks *store_chunks_create(sqlite3 *db, struct error *err)
{
    struct store_chunks *chunks = calloc(1, sizeof(*chunks));

    if (!chunks) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    if (store_sql_prepare(db, statements, SQL_COUNT, chunks->stmts, err) < 0) {
        free(chunks);
        return NULL;
    }
    return chunks;
}

static void run_free(struct run_chunks *run)
{
    struct run_key *key, *next;

    if (!run)
        return;
    HASH_ITER (hh, run->keys, key, next) {
        HASH_DEL(run->keys, key);
        free(key);
    }
    free(run);
}

void store_chunks_forget(struct store_chunks *chunks, const char *name)
{
    struct run_chunks **link = &chunks->runs;

    while (*link) {
        struct run_chunks *run = *link;

        if (name && strcmp(run->run, name) != 0) {
            link = &run->next;
        } else {
            *link = run->next;
            run_free(run);
        }
    }
}

void store_chunks_destroy(struct store_chunks *chunks)
{
    if (!chunks)
        return;
    store_chunks_forget(chunks, NULL);
    store_sql_finalize(chunks->stmts, SQL_COUNT);
    free(chunks);
}

/* ---- What is known of a run ---- */

static struct run_key *remember_key(struct run_chunks *run, int32_t number,
                                    const char *text)
{
    size_t len = strlen(text);
    struct run_key *key = calloc(1, sizeof(*key) + len + 1);

    if (!key)
        return NULL;
    key->number = number;
    memcpy(key->text, text, len);
    HASH_ADD_STR(run->keys, text, key);
    if (key->is_lost) {
        free(key);
        return NULL;
    }
    if (number >= run->n_keys)
        run->n_keys = number + 1;
    return key;
}

static int load_keys(struct store_chunks *chunks, struct run_chunks *run)
{
    sqlite3_stmt *stmt = chunks->stmts[SQL_KEYS];
    int rc;

    store_sql_bind_text(stmt, 1, run->run);
    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
        const char *text = (const char *)sqlite3_column_text(stmt, 1);

        if (!text || !remember_key(run, sqlite3_column_int(stmt, 0), text)) {
            rc = SQLITE_NOMEM;
            break;
        }
    }
    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* The last chunk grows on if there is room. */
static int load_last(struct store_chunks *chunks, struct run_chunks *run)
{
    sqlite3_stmt *stmt = chunks->stmts[SQL_LAST];
    size_t size;
    int rc;

    store_sql_bind_text(stmt, 1, run->run);
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        const void *records = sqlite3_column_blob(stmt, 1);

        size = (size_t)sqlite3_column_bytes(stmt, 1);
        if (records && size < sizeof(run->records)) {
            run->n = size / sizeof(run->records[0]);
            memcpy(run->records, records, run->n * sizeof(run->records[0]));
            run->first_id = sqlite3_column_int64(stmt, 0);
        }
        rc = SQLITE_DONE;
    }
    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Find the run and put it in front; *rc says why not. */
static struct run_chunks *open_run(struct store_chunks *chunks, const char *name, int *rc)
{
    struct run_chunks **link = &chunks->runs;
    struct run_chunks *run;

    while (*link && strcmp((*link)->run, name) != 0)
        link = &(*link)->next;
    run = *link;
    if (run) {
        *link = run->next;
    } else {
        run = calloc(1, sizeof(*run) + strlen(name) + 1);
        if (!run) {
            *rc = SQLITE_NOMEM;
            return NULL;
        }
        memcpy(run->run, name, strlen(name));
        *rc = load_keys(chunks, run);
        if (*rc == SQLITE_OK)
            *rc = load_last(chunks, run);
        if (*rc != SQLITE_OK) {
            run_free(run);
            return NULL;
        }
    }
    run->next = chunks->runs;
    chunks->runs = run;
    return run;
}

/* ---- Adding ---- */

static int step(sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);

    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int number_of_key(struct store_chunks *chunks, struct run_chunks *run,
                         const char *text, int32_t *number)
{
    sqlite3_stmt *stmt = chunks->stmts[SQL_ADD_KEY];
    struct run_key *key;
    int rc;

    HASH_FIND_STR(run->keys, text, key);
    if (!key) {
        store_sql_bind_text(stmt, 1, run->run);
        sqlite3_bind_int(stmt, 2, run->n_keys);
        store_sql_bind_text(stmt, 3, text);
        rc = step(stmt);
        if (rc != SQLITE_OK)
            return rc;
        key = remember_key(run, run->n_keys, text);
        if (!key)
            return SQLITE_NOMEM;
    }
    *number = key->number;
    return SQLITE_OK;
}

static int flush_run(struct store_chunks *chunks, struct run_chunks *run)
{
    sqlite3_stmt *stmt = chunks->stmts[SQL_PUT];
    int rc;

    if (!run->is_dirty)
        return SQLITE_OK;
    store_sql_bind_text(stmt, 1, run->run);
    sqlite3_bind_int64(stmt, 2, run->first_id);
    sqlite3_bind_blob(stmt, 3, run->records, (int)(run->n * sizeof(run->records[0])),
                      SQLITE_STATIC);
    rc = step(stmt);
    if (rc == SQLITE_OK)
        run->is_dirty = false;
    return rc;
}

int store_chunks_add(struct store_chunks *chunks, const char *name, int64_t event,
                     const char *key, struct result_record *record)
{
    int rc = SQLITE_OK;
    struct run_chunks *run = open_run(chunks, name, &rc);

    if (!run)
        return rc;
    rc = number_of_key(chunks, run, key, &record->key);
    if (rc == SQLITE_OK && run->n == STORE_CHUNK_RECORDS) {
        rc = flush_run(chunks, run);
        run->n = 0;
    }
    if (rc != SQLITE_OK)
        return rc;
    record->event = event;
    if (run->n == 0)
        run->first_id = event;
    run->records[run->n++] = *record;
    run->is_dirty = true;
    return SQLITE_OK;
}

int store_chunks_flush(struct store_chunks *chunks)
{
    struct run_chunks *run = chunks->runs;
    size_t n = 0;

    for (; run; run = run->next) {
        int rc = flush_run(chunks, run);

        if (rc != SQLITE_OK)
            return rc;
    }
    for (run = chunks->runs; run && ++n < RUNS_KEPT; run = run->next)
        ;
    while (run && run->next) {
        struct run_chunks *last = run->next;

        run->next = last->next;
        run_free(last);
    }
    return SQLITE_OK;
}

/* ---- A case that starts anew ---- */

static int disown_event(struct store_chunks *chunks, const char *name, int64_t event)
{
    store_sql_bind_text(chunks->stmts[SQL_DISOWN], 1, name);
    sqlite3_bind_int64(chunks->stmts[SQL_DISOWN], 2, event);
    return step(chunks->stmts[SQL_DISOWN]);
}

/* Leave the case's records out of the chunk; *found: it had some. */
static int strip_chunk(struct store_chunks *chunks, struct run_chunks *run, int case_no,
                       bool *found)
{
    size_t kept = 0;
    int rc = SQLITE_OK;

    for (size_t i = 0; i < run->n && rc == SQLITE_OK; i++)
        if (run->records[i].case_no == case_no)
            rc = disown_event(chunks, run->run, run->records[i].event);
        else
            run->records[kept++] = run->records[i];
    *found = kept < run->n;
    if (rc != SQLITE_OK || !*found)
        return rc;
    run->n = kept;
    run->is_dirty = kept > 0;
    if (kept > 0)
        return flush_run(chunks, run);
    store_sql_bind_text(chunks->stmts[SQL_DROP], 1, run->run);
    sqlite3_bind_int64(chunks->stmts[SQL_DROP], 2, run->first_id);
    return step(chunks->stmts[SQL_DROP]);
}

/* The chunk before `first_id` in place of the run's last one; SQLITE_DONE: none is. */
static int load_before(struct store_chunks *chunks, struct run_chunks *run,
                       int64_t first_id)
{
    sqlite3_stmt *stmt = chunks->stmts[SQL_BEFORE];
    size_t size;
    int rc;

    store_sql_bind_text(stmt, 1, run->run);
    sqlite3_bind_int64(stmt, 2, first_id);
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        size = (size_t)sqlite3_column_bytes(stmt, 1);
        if (size > sizeof(run->records))
            size = sizeof(run->records);
        run->first_id = sqlite3_column_int64(stmt, 0);
        run->n = size / sizeof(run->records[0]);
        if (size > 0)
            memcpy(run->records, sqlite3_column_blob(stmt, 1), size);
        rc = SQLITE_OK;
    }
    sqlite3_reset(stmt);
    return rc;
}

int store_chunks_disown(struct store_chunks *chunks, const char *name, int case_no)
{
    int rc = SQLITE_OK;
    struct run_chunks *run = open_run(chunks, name, &rc);
    int64_t first_id = INT64_MAX;
    bool found = true;

    if (run)
        rc = flush_run(chunks, run);
    while (run && rc == SQLITE_OK && found) {
        rc = load_before(chunks, run, first_id);
        first_id = run->first_id;
        if (rc == SQLITE_OK)
            rc = strip_chunk(chunks, run, case_no, &found);
    }
    /* What grows on is looked for again. */
    store_chunks_forget(chunks, name);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}
