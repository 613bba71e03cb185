/* SPDX-License-Identifier: Apache-2.0 */
/* env_names.h - lists the libraries' environment variables that are known to be harmless,
 * because each only selects, sizes or times something */
#ifndef RINGBENCH_COMMON_BASE_ENV_NAMES_H
#define RINGBENCH_COMMON_BASE_ENV_NAMES_H

#include <stdbool.h>

/* A library, identified by the prefix of its variables' names. */
struct env_library {
    const char *prefix;
    /* names that are harmless, listed without the prefix; NULL: every name with the
     * prefix is harmless */
    const char *harmless;
    /* UCX's transports; the names of their settings are TRANSPORT_SETTING */
    const char *parts;
    const char *settings; /* settings that are harmless for each of these transports */
    bool is_complete; /* true if a run may set no other variables with this prefix, even
                         with consent */
};

/* Return true if a name matches a pattern: a full name, or a prefix followed by '*'. */
bool env_name_matches(const char *pattern, const char *name);

/* Return the library that the name belongs to, or NULL. */
const struct env_library *env_library_of(const char *name);

/* Return true if the library's table lists this full name as harmless. */
bool env_library_knows_harmless(const struct env_library *library, const char *name);

#endif
