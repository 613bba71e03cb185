/* SPDX-License-Identifier: Apache-2.0 */
/* store_artifacts.h - texts that belong to runs: files that nodes sent for a case, and
 * the nodes' inventories. Equal texts are stored once, by digest, until the last run that
 * uses them is deleted. */
#ifndef RINGBENCH_SERVER_STORE_STORE_ARTIFACTS_H
#define RINGBENCH_SERVER_STORE_STORE_ARTIFACTS_H

#include <sqlite3.h>

#include "server/store/store.h"

#define STORE_INVENTORY "inventory.json"
#define STORE_NO_CASE (-1) /* belongs to the whole run */

struct store_artifact {
    const char *run, *node, *name, *digest;
    int case_no;
    const char *text; /* NULL: an inventory that is already stored */
};

/* Replaces the text of the same run, case, node and name. ERROR_NOT_FOUND if the run has
 * no row. */
int store_write_artifact(struct store_write *write, const struct store_artifact *item);

/* {"artifacts": [{"case","node","name","bytes","digest"}], "next": or null}: at most
 * `limit`, ordered by case, node and name, after skipping `after` of them. name: NULL =
 * all. */
json_t *store_get_artifacts(sqlite3 *db, const char *run, const char *name, int64_t after,
                            int limit, struct error *err);

/* A text of a run, by its digest, or by its node and name. */
struct store_artifact_key {
    const char *run, *digest, *node, *name;
};

/* [{"node","text","case"}], one for each key; ERROR_NOT_FOUND if a key has no text. */
json_t *store_get_texts(sqlite3 *db, const struct store_artifact_key *keys, size_t n,
                        struct error *err);

#define STORE_TEXTS_BYTES (64 << 20)

/* [{"node","text","case"}]: each node's text of that name, of the given case or (-1) of
 * the first case for which the node sent one. The list ends at STORE_TEXTS_BYTES. */
json_t *store_get_case_texts(sqlite3 *db, const char *run, const char *name,
                             int64_t case_no, struct error *err);

#endif
