/* SPDX-License-Identifier: Apache-2.0 */
/* negotiate.c - chooses media type and encoding according to the headers Accept and
 * Accept-Encoding */
#include "server/http/negotiate.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* One element of a list: "text/plain;q=0.5". */
struct element {
    const char *name;
    size_t len;
    int q; /* thousandths */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Return the end of a part of an element: the next character of `stops` outside a quoted
 * string. */
static const char *part_end(const char *p, const char *stops)
{
    bool quoted = false;

    for (; *p; p++)
        if (quoted && *p == '\\' && p[1])
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted && strchr(stops, *p))
            break;
    return p;
}

/* qvalue = 0[.ddd] | 1[.000]; -1 when malformed. */
static int parse_q(const char *p, const char *end)
{
    int q, scale = 100;

    if (p == end || (*p != '0' && *p != '1'))
        return -1;
    q = (*p++ - '0') * 1000;
    if (p < end && *p++ != '.')
        return -1;
    for (; p < end; p++, scale /= 10) {
        if (*p < '0' || *p > '9' || scale == 0)
            return -1;
        q += (*p - '0') * scale;
    }
    return q > 1000 ? -1 : q;
}

static void trim(const char **start, const char **end)
{
    while (*start < *end && is_space(**start))
        ++*start;
    while (*end > *start && is_space((*end)[-1]))
        --*end;
}

/* Read one element of the list and move *p past it. Returns false if the element is
 * malformed. */
static bool next_element(const char **p, struct element *element)
{
    const char *start = *p, *end = part_end(start, ",;");
    bool is_good;

    *p = end;
    trim(&start, &end);
    element->name = start;
    element->len = (size_t)(end - start);
    element->q = 1000;
    is_good = element->len > 0;
    while (**p == ';') {
        const char *param = *p + 1, *param_end = part_end(param, ",;");

        *p = param_end;
        trim(&param, &param_end);
        if (param_end - param >= 2 && (*param == 'q' || *param == 'Q') &&
            param[1] == '=') {
            element->q = parse_q(param + 2, param_end);
            is_good = is_good && element->q >= 0;
        }
    }
    if (**p == ',')
        ++*p;
    return is_good;
}

/* 0: no match; 1: any type; 2: the main type; 3: the type itself. */
static int match_range(const struct element *element, const char *type)
{
    size_t main_len = strcspn(type, "/") + 1;

    if (element->len == 3 && !memcmp(element->name, "*/*", 3))
        return 1;
    if (element->len == strlen(type) && !strncasecmp(element->name, type, element->len))
        return 3;
    if (element->len == main_len + 1 && element->name[main_len] == '*' &&
        !strncasecmp(element->name, type, main_len))
        return 2;
    return 0;
}

/* Return the q value of the type, taken from the most specific range that matches it. -1
 * if the header has no well-formed element. */
static int type_quality(const char *header, const char *type, int *specificity)
{
    int q = -1;

    *specificity = 0;
    while (*header) {
        struct element element;
        int match;

        if (!next_element(&header, &element))
            continue;
        if (q < 0)
            q = 0;
        match = match_range(&element, type);
        if (match > *specificity) {
            *specificity = match;
            q = element.q;
        }
    }
    return q;
}

int negotiate_accept(const char *header, const char *const *types)
{
    int best = -1, best_q = 0, best_specificity = 0;

    if (!header)
        return 0;
    for (int i = 0; types[i]; i++) {
        int specificity;
        int q = type_quality(header, types[i], &specificity);

        if (q < 0)
            return 0;
        if (q > best_q || (q > 0 && q == best_q && specificity > best_specificity)) {
            best = i;
            best_q = q;
            best_specificity = specificity;
        }
    }
    return best;
}

bool negotiate_encoding(const char *header, const char *coding)
{
    int any = 0;

    while (header && *header) {
        struct element element;

        if (!next_element(&header, &element))
            continue;
        if (element.len == strlen(coding) &&
            !strncasecmp(element.name, coding, element.len))
            return element.q > 0;
        if (element.len == 1 && *element.name == '*')
            any = element.q;
    }
    return any > 0;
}
