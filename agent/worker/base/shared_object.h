/* SPDX-License-Identifier: Apache-2.0 */
/* shared_object.h - find and load a library at run time, and bind its functions */
#ifndef RINGBENCH_WORKER_BASE_SHARED_OBJECT_H
#define RINGBENCH_WORKER_BASE_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

struct shared_symbol {
    const char *name;
    size_t offset; /* of the pointer in the table */
    bool is_optional;
    const char *instead; /* an alternative name; NULL: none */
};

/* Check a loaded library: 0 to accept it, or -1 with a reason that names it. */
typedef int shared_object_check(void *handle, void *arg, struct error *err);

/* Load the first library of `names` (ends with NULL) that exists and passes the check
 * (may be NULL). Searches the loader's paths, then those of toolkits, conda and Python
 * packages. `override`, unless NULL or "", is the only file tried. On failure returns
 * NULL with a reason that names all attempts.
 *
 * A library stays loaded until the process ends, also a refused one: libraries with their
 * own threads cannot be unloaded. */
void *shared_object_open(const char *override, const char *const *names,
                         shared_object_check *check, void *arg, struct error *err);

/* Store the functions' addresses in *table. Missing optional ones are NULL. */
int shared_object_bind(void *handle, const struct shared_symbol *symbols, size_t n,
                       void *table, struct error *err);

/* The file that contains the function at `address`; "" if not known. */
const char *shared_object_path(const void *address);

#endif
