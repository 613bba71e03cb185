/* SPDX-License-Identifier: Apache-2.0 */
/* imported.h - writes another benchmark's results as a run, as if nodes of this server
 * had measured them */
#ifndef RINGBENCH_SERVER_RUNS_IMPORTED_H
#define RINGBENCH_SERVER_RUNS_IMPORTED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "server/import/import.h"
#include "server/store/store.h"

struct imported {
    const struct import_table *const
        *tables; /* one table for each repeat of the run; all have the same columns */
    size_t n_tables;
    const char *name, *file; /* either may be "" */
    const json_t *labels;    /* an object, or NULL */
    json_t *transports;      /* from the NCCL log in the imported file, or NULL */
    int64_t time_ms;         /* the time of the run's events */
};

/* Add the run and all its events to the write. Returns the run's document (a new
 * reference), or NULL with err (ERROR_INVALID: this server cannot represent the results
 * as a run). */
json_t *imported_write(struct store_write *write, const struct imported *what,
                       struct error *err);

#endif
