/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h - by what the server tells this agent from others: the key that it made, and
 * the boot id under which its events count. They stand in a file of the spool directory,
 * so that an agent that was killed goes on as the same when it is started again. */
#ifndef RINGBENCH_AGENT_LINK_IDENTITY_H
#define RINGBENCH_AGENT_LINK_IDENTITY_H

#include <limits.h>
#include <stdbool.h>

#include "common/base/error.h"
#include "common/base/ids.h"

#define IDENTITY_KEY_LENGTH (2 * ID_UUID_LENGTH)

struct identity {
    char path[PATH_MAX]; /* "": it stands in no file */
    char boot_id[ID_UUID_LENGTH + 1];
    char key[IDENTITY_KEY_LENGTH + 1]; /* a secret */
    bool is_resumed;                   /* an earlier agent's */
};

/* Read DIR/identity; if there is none that is any good, make one and write it. */
int identity_load(struct identity *identity, const char *dir, struct error *err);

/* Make one that stands in no file. */
void identity_make(struct identity *identity);

/* Count events from 1 again, under a new boot id. */
int identity_renew(struct identity *identity, struct error *err);

/* Leave nothing to a next agent. */
void identity_remove(const struct identity *identity);

#endif
