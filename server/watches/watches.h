/* SPDX-License-Identifier: Apache-2.0 */
/* watches.h - specs that the server runs by itself, again and again, to find nodes that
 * became slow (docs/reference/watches.md). All of it on the loop's thread. A run becomes
 * durable together with the row of its watch, so that the next server knows how far it
 * is. */
#ifndef RINGBENCH_SERVER_WATCHES_WATCHES_H
#define RINGBENCH_SERVER_WATCHES_WATCHES_H

#include <jansson.h>
#include <uv.h>

#include "common/base/error.h"
#include "server/store/store.h"
#include "server/watches/watch_request.h"

#define WATCHES_MAX 200

struct jobs;
struct scheduler;
struct watches;

struct watches_config {
    struct store *store; /* all borrowed */
    struct scheduler *scheduler;
    struct jobs *jobs;
    const char *hooks; /* the directory, or NULL: there are none */
};

/* Read the stored watches, after scheduler_recover. */
struct watches *watches_create(uv_loop_t *loop, const struct watches_config *config,
                               struct error *err);

/* The URL of this server, for hooks (copied). */
void watches_set_server(struct watches *watches, const char *url);

/* Read the hooks again; -1 with the reason, and then those before stay. */
int watches_reload(struct watches *watches, struct error *err);

/* Stop. `closed` runs on the loop; free them when the store has closed, too. */
void watches_close(struct watches *watches, void (*closed)(void *arg), void *arg);
void watches_free(struct watches *watches); /* NULL is fine */

/* A new watch; by: the name of who asked, or NULL. Fills in its id (ID_RUN_LENGTH + 1
 * bytes), and calls `done` once it is durable or could not be stored, as those below. -1
 * with ERROR_LIMIT: there are WATCHES_MAX. */
int watches_add(struct watches *watches, const struct watch_request *request,
                const char *by, char *id, store_written *done, void *arg,
                struct error *err);

enum watches_change {
    WATCHES_PAUSE,
    WATCHES_RESUME,
    WATCHES_ACT, /* hooks are run from now on */
    WATCHES_OBSERVE,
    WATCHES_DELETE,
    WATCHES_CLEAR /* of a node: it is no suspect, and what hooks did to it is undone */
};

/* A pause lets the run under way end; a deletion cancels it. id: of the watch, or the
 * node's name. -1 with ERROR_NOT_FOUND. */
int watches_change(struct watches *watches, const char *id, enum watches_change change,
                   store_written *done, void *arg, struct error *err);

/* As docs/reference/api.md shows them; new references. The list has nothing of single
 * nodes. */
json_t *watches_list(const struct watches *watches);
json_t *watches_suspects(const struct watches *watches);
json_t *watches_get(const struct watches *watches, const char *id); /* or NULL */

#endif
