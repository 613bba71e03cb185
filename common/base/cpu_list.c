/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_list.c - parses CPU lists in the kernel's format */
#include "common/base/cpu_list.h"

#include <stdlib.h>

/* Parse a CPU number and move *at past it. Return false if there is no valid CPU
 * number. */
static bool take_number(const char **at, unsigned *out)
{
    char *end;
    unsigned long value;

    if (**at < '0' || **at > '9')
        return false;
    value = strtoul(*at, &end, 10);
    if (value >= CPU_LIST_CPUS_MAX)
        return false;
    *at = end;
    *out = (unsigned)value;
    return true;
}

bool cpu_list_next(const char **at, unsigned *first, unsigned *last)
{
    const char *text = *at;

    if (!take_number(&text, first))
        return false;
    *last = *first;
    if (*text == '-') {
        text++;
        if (!take_number(&text, last) || *last < *first)
            return false;
    }
    /* A comma must be followed by another range. */
    if (*text == ',' && text[1] >= '0' && text[1] <= '9')
        text++;
    else if (*text)
        return false;
    *at = text;
    return true;
}

bool cpu_list_is_valid(const char *list)
{
    unsigned first, last;

    if (!*list)
        return false;
    while (cpu_list_next(&list, &first, &last)) {}
    return !*list;
}

bool cpu_lists_meet(const char *a, const char *b)
{
    unsigned first, last, from, to;

    while (cpu_list_next(&a, &first, &last)) {
        const char *at = b;

        while (cpu_list_next(&at, &from, &to))
            if (from <= last && first <= to)
                return true;
    }
    return false;
}
