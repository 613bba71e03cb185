/* SPDX-License-Identifier: Apache-2.0 */
/* store_artifacts.h - texts that belong to runs: what nodes sent of a case, and what they
 * were. Those that are the same are there once, by their digest, until the last run that
 * has them is deleted. */
#ifndef RINGBENCH_SERVER_STORE_STORE_ARTIFACTS_H
#define RINGBENCH_SERVER_STORE_STORE_ARTIFACTS_H

#include <sqlite3.h>

#include "server/store/store.h"

#define STORE_INVENTORY "inventory.json"
#define STORE_NO_CASE (-1) /* of the run as a whole */

struct store_artifact {
    const char *run, *node, *name, *digest;
    int case_no;
    const char *text; /* NULL: an inventory's that this store was given, by its digest */
};

/* Of a run that has no row: ERROR_NOT_FOUND. One of the same run, case, node and name is
 * replaced. */
int store_write_artifact(struct store_write *write, const struct store_artifact *item);

/* {"artifacts": [{"case","node","name","bytes","digest"}], "next": or null}: in the order
 * of case, node and name, `limit` behind the first `after`. name: NULL = all. */
json_t *store_get_artifacts(sqlite3 *db, const char *run, const char *name, int64_t after,
                            int limit, struct error *err);

/* Of a run: the one of that digest, or of that node and name. */
struct store_artifact_key {
    const char *run, *digest, *node, *name;
};

/* [{"node","text"}], of each key; ERROR_NOT_FOUND when there is none of one. */
json_t *store_get_texts(sqlite3 *db, const struct store_artifact_key *keys, size_t n,
                        struct error *err);

#define STORE_TEXTS_BYTES (64 << 20)

/* [{"node","text","case"}]: of each node the one of that name, of a case or (-1) of the
 * first in which it sent any, up to STORE_TEXTS_BYTES. */
json_t *store_get_case_texts(sqlite3 *db, const char *run, const char *name,
                             int64_t case_no, struct error *err);

#endif
