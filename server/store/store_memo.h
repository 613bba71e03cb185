/* store_memo.h - what must be answered without a query: acknowledged sequences and
 * idempotency keys. Owned by the loop's thread. */
#ifndef RINGBENCH_SERVER_STORE_STORE_MEMO_H
#define RINGBENCH_SERVER_STORE_STORE_MEMO_H

#include <sqlite3.h>

#include "server/store/store_write.h"

#define STORE_ACK_KEEP_MS (INT64_C(30) * 24 * 3600 * 1000)
#define STORE_IDEMPOTENCY_KEEP_MS (INT64_C(24) * 3600 * 1000)

struct store_memo;

struct store_memo *store_memo_create(void);
void store_memo_destroy(struct store_memo *memo);

/* Read what is still worth knowing at now_ms. */
int store_memo_load(struct store_memo *memo, sqlite3 *db, int64_t now_ms,
                    struct error *err);

/* Take over what a committed write changed. -1 when memory is out. */
int store_memo_apply(struct store_memo *memo, const struct store_write *write);

int64_t store_memo_acked(const struct store_memo *memo, const char *boot_id);
bool store_memo_knows_boot(const struct store_memo *memo, const char *boot_id);
bool store_memo_idempotency(const struct store_memo *memo, const char *key,
                            int64_t now_ms, char *run, char *body_hash);

#endif
