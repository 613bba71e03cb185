/* SPDX-License-Identifier: Apache-2.0 */
/* shared_object.h - find and load a library at run time, and bind its functions */
#ifndef RINGBENCH_WORKER_BASE_SHARED_OBJECT_H
#define RINGBENCH_WORKER_BASE_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

struct shared_symbol {
    const char *name;
    size_t offset; /* offset of the function pointer in the table */
    bool is_optional;
    const char *instead; /* an alternative name; NULL: none */
};

/* Check a loaded library. Return 0 to accept it, or -1 with an error that names the
 * library. */
typedef int shared_object_check(void *handle, void *arg, struct error *err);

/* Load the first library of `names` (ends with NULL) that exists and passes the check
 * (may be NULL). Search the loader's paths, then the paths of toolkits, conda and Python
 * packages. If `override` is neither NULL nor "", try only that file. On failure return
 * NULL with an error that lists all attempts.
 *
 * Every loaded library stays loaded until the process ends, even if the check refused it.
 * Libraries with their own threads cannot be unloaded. */
void *shared_object_open(const char *override, const char *const *names,
                         shared_object_check *check, void *arg, struct error *err);

/* Store the functions' addresses in *table; NULL for a missing optional function. */
int shared_object_bind(void *handle, const struct shared_symbol *symbols, size_t n,
                       void *table, struct error *err);

/* Path of the file that contains the function at `address`; "" if not known. */
const char *shared_object_path(const void *address);

#endif
