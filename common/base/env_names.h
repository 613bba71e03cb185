/* SPDX-License-Identifier: Apache-2.0 */
/* env_names.h - the variables of libraries that are known to be harmless: each chooses,
 * sizes or times something, and no more */
#ifndef RINGBENCH_COMMON_BASE_ENV_NAMES_H
#define RINGBENCH_COMMON_BASE_ENV_NAMES_H

#include <stdbool.h>

/* A library by the prefix of its variables' names. */
struct env_library {
    const char *prefix;
    const char *harmless; /* names without the prefix; NULL: all that begin with it */
    const char *parts;    /* UCX's transports, whose settings have names of two parts */
    const char *settings; /* harmless of any of these */
    bool is_complete;     /* a run may set no others, with nobody's consent */
};

/* pattern: a name, or what names begin with and '*'. */
bool env_name_matches(const char *pattern, const char *name);

/* The library that the name belongs to, or NULL. */
const struct env_library *env_library_of(const char *name);

/* name: one of the library's, in full. */
bool env_library_knows_harmless(const struct env_library *library, const char *name);

#endif
