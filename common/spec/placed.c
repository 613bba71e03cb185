/* SPDX-License-Identifier: Apache-2.0 */
/* placed.c - lists the nodes of a case in the order of their ranks */
#include "common/spec/placed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define DIGITS_MAX 9
#define COUNT_MAX 1000000

void placed_init(struct placed *placed, json_t *list)
{
    memset(placed, 0, sizeof(*placed));
    placed->list = list;
}

/* Split a name into its prefix and its trailing number, if any. */
static void split(struct placed *placed, const char *name)
{
    size_t len = strlen(name), digits = 0;

    while (digits < len && digits < DIGITS_MAX && strchr(DIGITS, name[len - digits - 1]))
        digits++;
    snprintf(placed->name, sizeof(placed->name), "%s", name);
    placed->prefix = len - digits;
    placed->width = (int)digits;
    placed->first = placed->last = digits > 0 ? strtol(name + len - digits, NULL, 10) : 0;
}

static int put(const struct placed *placed, json_t *entry)
{
    char text[PLACED_NAME_MAX + 64];

    if (placed->first == placed->last)
        return json_array_set_new(entry, 0, json_string(placed->name));
    snprintf(text, sizeof(text), "%.*s[%0*ld-%0*ld]", (int)placed->prefix, placed->name,
             placed->width, placed->first, placed->width, placed->last);
    return json_array_set_new(entry, 0, json_string(text));
}

int placed_add(struct placed *placed, const char *name, int ranks)
{
    size_t n = json_array_size(placed->list);
    char next[PLACED_NAME_MAX + 32];

    placed->last++;
    placed_name(placed, placed->last - placed->first, next, sizeof(next));
    if (n > 0 && placed->width > 0 && ranks == placed->ranks && strcmp(next, name) == 0)
        return put(placed, json_array_get(placed->list, n - 1));
    split(placed, name);
    placed->ranks = ranks;
    return json_array_append_new(placed->list, json_pack("[s, i]", name, ranks));
}

/* Parse "[A-B]" at the end of a name. */
static int read_range(const char *text, struct placed *out)
{
    const char *dash;
    char *end;

    out->width = (int)strspn(text + 1, DIGITS);
    dash = text + 1 + out->width;
    if (out->width < 1 || out->width > DIGITS_MAX || *dash != '-' ||
        strspn(dash + 1, DIGITS) < 1)
        return -1;
    out->first = strtol(text + 1, NULL, 10);
    out->last = strtol(dash + 1, &end, 10);
    return strcmp(end, "]") == 0 && out->last >= out->first &&
                   out->last - out->first < COUNT_MAX
               ? 0
               : -1;
}

int placed_read(const json_t *entry, struct placed *out)
{
    const char *text = json_string_value(json_array_get(entry, 0));
    json_int_t ranks = json_integer_value(json_array_get(entry, 1));
    size_t prefix = text ? strcspn(text, "[") : 0;

    memset(out, 0, sizeof(*out));
    if (!text || strlen(text) >= sizeof(out->name) || ranks < 1 || ranks > COUNT_MAX)
        return -1;
    memcpy(out->name, text, strlen(text) + 1);
    out->ranks = (int)ranks;
    out->prefix = prefix;
    return text[prefix] == '[' ? read_range(text + prefix, out) : 0;
}

long placed_count(const struct placed *entry)
{
    return entry->last - entry->first + 1;
}

void placed_name(const struct placed *entry, long i, char *out, size_t size)
{
    int prefix = (int)entry->prefix;

    if (entry->width == 0)
        snprintf(out, size, "%s", entry->name);
    else
        snprintf(out, size, "%.*s%0*ld", prefix, entry->name, entry->width,
                 entry->first + i);
}
