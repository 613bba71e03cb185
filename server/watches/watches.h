/* SPDX-License-Identifier: Apache-2.0 */
/* watches.h - runs specs periodically to find nodes that became slow
 * (docs/reference/watches.md). On the loop's thread only. A run and the row of its watch
 * are stored together, so a restarted server continues where the previous one stopped. */
#ifndef RINGBENCH_SERVER_WATCHES_WATCHES_H
#define RINGBENCH_SERVER_WATCHES_WATCHES_H

#include <jansson.h>
#include <uv.h>

#include "common/base/error.h"
#include "server/store/store.h"

#define WATCHES_MAX 200

struct hook_runner;
struct jobs;
struct scheduler;
struct watches;

/* Read the stored watches. Call after scheduler_recover(). All arguments are borrowed.
 * hooks: directory of the hooks' files, or NULL. */
struct watches *watches_create(uv_loop_t *loop, struct store *store,
                               struct scheduler *scheduler, struct jobs *jobs,
                               const char *hooks, struct error *err);

struct hook_runner *watches_hooks(struct watches *watches);

/* Stop the timer. Free the watches after the store has closed. */
void watches_close(struct watches *watches);
void watches_free(struct watches *watches); /* NULL is fine */

/* Add a watch. request: the body of POST /watches with its defaults (taken, also on
 * failure). by: name of the client's token, or NULL. `done` is called after the watch is
 * stored, or with the error. id: set to the new watch's id (ID_RUN_LENGTH + 1 bytes).
 * Returns -1 with ERROR_LIMIT if there are WATCHES_MAX watches already. */
int watches_add(struct watches *watches, json_t *request, const char *by,
                store_written *done, void *arg, char *id, struct error *err);

enum watches_change {
    WATCHES_PAUSE, /* the current run continues */
    WATCHES_RESUME,
    WATCHES_ACT, /* hooks run from now on */
    WATCHES_OBSERVE,
    WATCHES_DELETE, /* the current run is cancelled */
    WATCHES_CLEAR   /* the node is no longer a suspect, and an operator undid its hooks */
};

/* Change a watch. id: of the watch; for WATCHES_CLEAR, the name of the suspect node.
 * Returns -1 with ERROR_NOT_FOUND. */
int watches_change(struct watches *watches, const char *id, enum watches_change change,
                   store_written *done, void *arg, struct error *err);

/* Return documents of docs/reference/api.md; new references. The list omits data of
 * single nodes. */
json_t *watches_list(const struct watches *watches);
json_t *watches_suspects(const struct watches *watches);
json_t *watches_get(const struct watches *watches, const char *id); /* or NULL */

#endif
