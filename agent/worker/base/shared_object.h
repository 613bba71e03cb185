/* SPDX-License-Identifier: Apache-2.0 */
/* shared_object.h - a library that is looked for at run time, and its functions */
#ifndef RINGBENCH_WORKER_BASE_SHARED_OBJECT_H
#define RINGBENCH_WORKER_BASE_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

struct shared_symbol {
    const char *name;
    size_t offset; /* of the pointer in the table */
    bool is_optional;
    const char *instead; /* another name that will do; NULL: none */
};

/* Accepts a loaded library: 0, or -1 with a reason that names it. */
typedef int shared_object_check(void *handle, void *arg, struct error *err);

/* Load the first of the names (NULL ends them) that there is and that passes the check
 * (NULL: each does), where the loader looks or where toolkits, conda and Python packages
 * put theirs; `override` (not NULL or "") stands in their place. NULL with a reason that
 * names what was tried. A library stays loaded for the life of the process, also one that
 * does not pass: libraries with threads of their own cannot go. */
void *shared_object_open(const char *override, const char *const *names,
                         shared_object_check *check, void *arg, struct error *err);

/* Store the functions' addresses into *table; a missing optional one is NULL. */
int shared_object_bind(void *handle, const struct shared_symbol *symbols, size_t n,
                       void *table, struct error *err);

/* The file that the function at `address` was loaded from; "" if unknown. */
const char *shared_object_path(const void *address);

#endif
