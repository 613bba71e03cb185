/* SPDX-License-Identifier: Apache-2.0 */
/* imported.h - a run of what another benchmark measured: as if it had come from nodes
 * here
 */
#ifndef RINGBENCH_SERVER_RUNS_IMPORTED_H
#define RINGBENCH_SERVER_RUNS_IMPORTED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "server/import/import.h"
#include "server/store/store.h"

struct imported {
    const struct import_table *const *tables; /* alike: the repeats of the run */
    size_t n_tables;
    const char *name, *file; /* either may be "" */
    const json_t *labels;    /* an object, or NULL */
    json_t *transports;      /* what NCCL's log in the file says, or NULL */
    int64_t time_ms;         /* of its events */
};

/* Add the run and all of its events to the write. Returns its document (a new reference),
 * NULL with err (ERROR_INVALID: what was measured is no run that this server can have).
 */
json_t *imported_write(struct store_write *write, const struct imported *what,
                       struct error *err);

#endif
