/* SPDX-License-Identifier: Apache-2.0 */
/* env_names.c - lists the libraries' environment variables that are known to be
 * harmless */
#include "common/base/env_names.h"

#include <stddef.h>
#include <string.h>

/* This header defines a string NAME for each file env_names/NAME.txt. The string lists
 * the file's variables without their library's prefix, in strcmp order and separated by
 * single spaces. Each variable was checked in the sources of the versions that the file
 * states. Add a variable only if the library does not use it to open a file, load or run
 * code, listen, connect, handle a signal or read further settings. Other variables belong
 * to the rules in env_policy.c. */
#include "env_names_data.h"

static const struct env_library libraries[] = {
    {.prefix = "NCCL_", .harmless = nccl},
    {"UCX_", ucx, ucx_transports, ucx_settings, false},
    {.prefix = "FI_", .harmless = fi},
    {.prefix = "OMP_", .harmless = omp},
    {.prefix = "GLOO_", .harmless = gloo},
    {.prefix = "CUDA_", .harmless = cuda, .is_complete = true},
    /* ringbench's own backends validate their variables. */
    {.prefix = "HOST_"},
    {.prefix = "SIM_"},
};

static int compare(const char *name, const char *word, size_t len)
{
    int order = strncmp(name, word, len);

    return order == 0 && name[len] != '\0' ? 1 : order;
}

/* Return true if the name is in `words`, which are sorted and separated by single
 * spaces. */
static bool has_word(const char *words, const char *name)
{
    size_t low = 0, high = strlen(words);

    while (low < high) {
        size_t start = low + (high - low) / 2, len;
        int order;

        while (start > low && words[start - 1] != ' ')
            start--;
        len = strcspn(words + start, " ");
        order = compare(name, words + start, len);
        if (order == 0)
            return true;
        if (order < 0)
            high = start;
        else
            low = start + len + 1;
    }
    return false;
}

/* Return true if the name consists of a word from `parts`, an underscore and a word from
 * `settings`. */
static bool has_words(const char *parts, const char *settings, const char *name)
{
    for (size_t len; *parts; parts += len + (parts[len] == ' ')) {
        len = strcspn(parts, " ");
        if (strncmp(name, parts, len) == 0 && name[len] == '_' &&
            has_word(settings, name + len + 1))
            return true;
    }
    return false;
}

bool env_name_matches(const char *pattern, const char *name)
{
    size_t len = strlen(pattern);

    return len > 0 && pattern[len - 1] == '*' ? strncmp(name, pattern, len - 1) == 0
                                              : strcmp(name, pattern) == 0;
}

const struct env_library *env_library_of(const char *name)
{
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        const char *prefix = libraries[i].prefix;
        size_t len = strlen(prefix);

        if (strncmp(name, prefix, len) == 0 && name[len] != '\0')
            return &libraries[i];
    }
    return NULL;
}

bool env_library_knows_harmless(const struct env_library *library, const char *name)
{
    const char *rest = name + strlen(library->prefix);

    return !library->harmless || has_word(library->harmless, rest) ||
           (library->parts && has_words(library->parts, library->settings, rest));
}
