/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.h - the files of tests/vectors: what goes in and what must come out, the same
 * for C and for the page's JavaScript (tests/web/unit/vectors.test.mjs) */
#ifndef RINGBENCH_TESTS_UNIT_VECTORS_H
#define RINGBENCH_TESTS_UNIT_VECTORS_H

#include <jansson.h>

#include "tests/unit/test.h"

/* The document of a file; the caller drops it. */
static inline json_t *vectors_load(const char *name)
{
    char path[1024];
    json_error_t error;
    json_t *document;

    snprintf(path, sizeof(path), "%s/%s", VECTORS_DIR, name);
    document = json_load_file(path, 0, &error);
    if (!document)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return document;
}

/* A member that must be there and not be empty; borrowed. */
static inline json_t *vectors_list(const json_t *document, const char *name)
{
    json_t *list = json_object_get(document, name);

    if (json_array_size(list) + json_object_size(list) == 0)
        fail_msg("no vectors of %s", name);
    return list;
}

static inline int vectors_drop(void **state)
{
    json_decref(*state);
    return 0;
}

/* The document of a file is the state of all tests here. */
#define VECTORS(name)                                                                    \
    static int load_vectors(void **state)                                                \
    {                                                                                    \
        *state = vectors_load(name);                                                     \
        return 0;                                                                        \
    }                                                                                    \
    GROUP_FIXTURE(load_vectors, vectors_drop)

#endif
