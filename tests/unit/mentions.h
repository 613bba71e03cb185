/* SPDX-License-Identifier: Apache-2.0 */
/* mentions.h - whether a message has the names and numbers that it should, in their order
 *
 * One test compares a sentence of the product; the others look for names and numbers, so
 * that the sentence can be improved. A name is found whole: "1" not in "10", "1.5" or
 * "node-1".
 */
#ifndef RINGBENCH_TESTS_UNIT_MENTIONS_H
#define RINGBENCH_TESTS_UNIT_MENTIONS_H

#include "tests/unit/test.h"

#include <ctype.h>

static inline bool mentions_inside_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where `name` ends in `text`; NULL if it is not there. */
static inline const char *mentions_find(const char *text, const char *name, size_t len)
{
    for (const char *p = text; *p; p++) {
        const char *end = p + len;

        if (strncmp(p, name, len) != 0)
            continue;
        if (p > text && (mentions_inside_name(*name) || *name == '-') &&
            (mentions_inside_name(p[-1]) || p[-1] == '-' || p[-1] == '.'))
            continue;
        if (mentions_inside_name(end[-1]) &&
            (mentions_inside_name(*end) ||
             ((*end == '-' || *end == '.') && mentions_inside_name(end[1]))))
            continue;
        return end;
    }
    return NULL;
}

/* Whether the text contains the names, which are separated by spaces, in this order. */
static inline bool mentions(const char *text, const char *names)
{
    while (text && *(names += strspn(names, " ")) != '\0') {
        size_t len = strcspn(names, " ");

        text = mentions_find(text, names, len);
        names += len;
    }
    return text != NULL;
}

static inline void assert_mentions(const char *text, const char *names)
{
    if (!mentions(text, names))
        fail_msg("'%s' does not mention '%s'", text, names);
}

#endif
