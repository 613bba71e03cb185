/* store_memo.c - acknowledged sequences and idempotency keys in memory */
#include "server/store/store_memo.h"

#include <stdlib.h>
#include <string.h>

/* uthash's default function does not build without warnings. */
#define HASH_FUNCTION HASH_FNV
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->is_lost = true)
#include <uthash.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "server/store/store_sql.h"

static const char SQL_LOAD_ACKS[] =
    "SELECT boot_id, seq, updated_ms FROM acks WHERE updated_ms >= ?1";
static const char SQL_LOAD_KEYS[] =
    "SELECT key, run, body_hash, created_ms FROM idempotency WHERE created_ms >= ?1";

struct memo_ack {
    UT_hash_handle hh;
    int64_t seq, updated_ms;
    bool is_lost;
    char boot_id[];
};

struct memo_key {
    UT_hash_handle hh;
    int64_t created_ms;
    bool is_lost;
    char run[ID_RUN_LENGTH + 1];
    char body_hash[65];
    char key[];
};

struct store_memo {
    struct memo_ack *acks;
    struct memo_key *keys;
};

struct store_memo *store_memo_create(void)
{
    return calloc(1, sizeof(struct store_memo));
}

void store_memo_destroy(struct store_memo *memo)
{
    struct memo_ack *ack, *next_ack;
    struct memo_key *key, *next_key;

    if (!memo)
        return;
    HASH_ITER (hh, memo->acks, ack, next_ack) {
        HASH_DEL(memo->acks, ack);
        free(ack);
    }
    HASH_ITER (hh, memo->keys, key, next_key) {
        HASH_DEL(memo->keys, key);
        free(key);
    }
    free(memo);
}

static int put_ack(struct store_memo *memo, const char *boot_id, int64_t seq,
                   int64_t now_ms)
{
    struct memo_ack *ack;
    size_t len = strlen(boot_id);

    HASH_FIND_STR(memo->acks, boot_id, ack);
    if (!ack) {
        ack = calloc(1, sizeof(*ack) + len + 1);
        if (!ack)
            return -1;
        memcpy(ack->boot_id, boot_id, len);
        HASH_ADD_STR(memo->acks, boot_id, ack);
        if (ack->is_lost) {
            free(ack);
            return -1;
        }
    }
    if (seq > ack->seq)
        ack->seq = seq;
    ack->updated_ms = now_ms;
    return 0;
}

static void remove_ack(struct store_memo *memo, const char *boot_id)
{
    struct memo_ack *ack;

    HASH_FIND_STR(memo->acks, boot_id, ack);
    if (!ack || ack->seq > 0)
        return;
    HASH_DEL(memo->acks, ack);
    free(ack);
}

static int put_key(struct store_memo *memo, const char *key, const char *run,
                   const char *body_hash, int64_t created_ms)
{
    struct memo_key *found;
    size_t len = strlen(key);

    HASH_FIND_STR(memo->keys, key, found);
    if (!found) {
        found = calloc(1, sizeof(*found) + len + 1);
        if (!found)
            return -1;
        memcpy(found->key, key, len);
        HASH_ADD_STR(memo->keys, key, found);
        if (found->is_lost) {
            free(found);
            return -1;
        }
    }
    strncpy(found->run, run, sizeof(found->run) - 1);
    strncpy(found->body_hash, body_hash, sizeof(found->body_hash) - 1);
    found->created_ms = created_ms;
    return 0;
}

/* Nothing may answer with a run that is gone. */
static void forget_run(struct store_memo *memo, const char *run)
{
    struct memo_key *key, *next;

    HASH_ITER (hh, memo->keys, key, next)
        if (!strcmp(key->run, run)) {
            HASH_DEL(memo->keys, key);
            free(key);
        }
}

static void prune(struct store_memo *memo, int64_t acks_before_ms, int64_t keys_before_ms)
{
    struct memo_ack *ack, *next_ack;
    struct memo_key *key, *next_key;

    HASH_ITER (hh, memo->acks, ack, next_ack)
        if (ack->updated_ms < acks_before_ms) {
            HASH_DEL(memo->acks, ack);
            free(ack);
        }
    HASH_ITER (hh, memo->keys, key, next_key)
        if (key->created_ms < keys_before_ms) {
            HASH_DEL(memo->keys, key);
            free(key);
        }
}

static int apply_op(struct store_memo *memo, const struct store_op *op)
{
    const json_t *params = op->params;
    const char *run = json_get_str(params, "run", "");

    if (op->kind == STORE_OP_ACK)
        return put_ack(memo, json_get_str(params, "boot_id", ""),
                       json_get_int(params, "seq", 0), json_get_int(params, "now_ms", 0));
    if (op->kind == STORE_OP_UNACK)
        remove_ack(memo, json_get_str(params, "boot_id", ""));
    else if (op->kind == STORE_OP_IDEMPOTENCY)
        return put_key(memo, json_get_str(params, "key", ""), run,
                       json_get_str(params, "body_hash", ""),
                       json_get_int(params, "now_ms", 0));
    else if (op->kind == STORE_OP_DELETE)
        forget_run(memo, run);
    else if (op->kind == STORE_OP_PRUNE)
        prune(memo, json_get_int(params, "acks_ms", 0),
              json_get_int(params, "keys_ms", 0));
    return 0;
}

int store_memo_apply(struct store_memo *memo, const struct store_write *write)
{
    const struct store_op *op;
    int rc = 0;

    STAILQ_FOREACH (op, &write->ops, entry)
        if (apply_op(memo, op) < 0)
            rc = -1;
    return rc;
}

static int load_acks(struct store_memo *memo, sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);

    for (; rc == SQLITE_ROW; rc = sqlite3_step(stmt))
        if (put_ack(memo, (const char *)sqlite3_column_text(stmt, 0),
                    sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2)) < 0)
            return SQLITE_NOMEM;
    return rc;
}

static int load_keys(struct store_memo *memo, sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);

    for (; rc == SQLITE_ROW; rc = sqlite3_step(stmt))
        if (put_key(memo, (const char *)sqlite3_column_text(stmt, 0),
                    (const char *)sqlite3_column_text(stmt, 1),
                    (const char *)sqlite3_column_text(stmt, 2),
                    sqlite3_column_int64(stmt, 3)) < 0)
            return SQLITE_NOMEM;
    return rc;
}

int store_memo_load(struct store_memo *memo, sqlite3 *db, int64_t now_ms,
                    struct error *err)
{
    const char *const sql[] = {SQL_LOAD_ACKS, SQL_LOAD_KEYS};
    sqlite3_stmt *stmts[2];
    int rc;

    if (store_sql_prepare(db, sql, 2, stmts, err) < 0)
        return -1;
    sqlite3_bind_int64(stmts[0], 1, now_ms - STORE_ACK_KEEP_MS);
    sqlite3_bind_int64(stmts[1], 1, now_ms - STORE_IDEMPOTENCY_KEEP_MS);
    rc = load_acks(memo, stmts[0]);
    if (rc == SQLITE_DONE)
        rc = load_keys(memo, stmts[1]);
    if (rc != SQLITE_DONE)
        store_sql_error(err, db, "cannot read acknowledgements");
    store_sql_finalize(stmts, 2);
    return rc == SQLITE_DONE ? 0 : -1;
}

int64_t store_memo_acked(const struct store_memo *memo, const char *boot_id)
{
    struct memo_ack *ack;

    HASH_FIND_STR(memo->acks, boot_id, ack);
    return ack ? ack->seq : 0;
}

bool store_memo_knows_boot(const struct store_memo *memo, const char *boot_id)
{
    struct memo_ack *ack;

    HASH_FIND_STR(memo->acks, boot_id, ack);
    return ack != NULL;
}

bool store_memo_idempotency(const struct store_memo *memo, const char *key,
                            int64_t now_ms, char *run, char *body_hash)
{
    struct memo_key *found;

    HASH_FIND_STR(memo->keys, key, found);
    if (!found || found->created_ms < now_ms - STORE_IDEMPOTENCY_KEEP_MS)
        return false;
    memcpy(run, found->run, sizeof(found->run));
    memcpy(body_hash, found->body_hash, sizeof(found->body_hash));
    return true;
}
