/* SPDX-License-Identifier: Apache-2.0 */
/* store_artifacts.h - stores texts that belong to runs: files that nodes sent for a case,
 * and the nodes' inventories. Equal texts are stored once, by digest, until the last run
 * that uses them is deleted. */
#ifndef RINGBENCH_SERVER_STORE_STORE_ARTIFACTS_H
#define RINGBENCH_SERVER_STORE_STORE_ARTIFACTS_H

#include <sqlite3.h>

#include "server/store/store.h"

#define STORE_INVENTORY "inventory.json"
#define STORE_NO_CASE (-1) /* case number of a text that belongs to the whole run */

struct store_artifact {
    const char *run, *node, *name, *digest;
    int case_no;
    const char *text; /* NULL: an inventory that is already stored */
};

/* Store a text, replacing any text with the same run, case, node and name. The write
 * fails with ERROR_NOT_FOUND if the run is not stored. */
int store_write_artifact(struct store_write *write, const struct store_artifact *item);

/* Return {"artifacts": [{"case","node","name","bytes","digest"}], "next": number or
 * null}. The list contains at most `limit` texts, sorted by case, node and name, after
 * skipping the first `after`. name: only texts with this name; NULL: all. */
json_t *store_get_artifacts(sqlite3 *db, const char *run, const char *name, int64_t after,
                            int limit, struct error *err);

/* Selects a text of a run by digest, or by node and name. */
struct store_artifact_key {
    const char *run, *digest, *node, *name;
};

/* Return [{"node","text","case"}] with an element for each key. Fails with
 * ERROR_NOT_FOUND if a key has no text. */
json_t *store_get_texts(sqlite3 *db, const struct store_artifact_key *keys, size_t n,
                        struct error *err);

#define STORE_TEXTS_BYTES (64 << 20)

/* Return [{"node","text","case"}]: for each node, its text with this name. The text
 * belongs to the given case or, if case_no is -1, to the first case for which the node
 * sent one. The list ends before its texts exceed STORE_TEXTS_BYTES. */
json_t *store_get_case_texts(sqlite3 *db, const char *run, const char *name,
                             int64_t case_no, struct error *err);

#endif
