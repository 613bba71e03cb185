/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - matches a line against a form and captures its variable parts */
#include "common/ncclog/pattern.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 2000000000L

static struct piece *add(struct pieces *pieces, const char *text, size_t len)
{
    struct piece *piece = &pieces->at[pieces->n++];

    piece->text = text;
    piece->len = len;
    return piece;
}

/* Parse an integer of at most NUMBER_MAX. Return its length, or 0 if there is none. */
static size_t take_number(const char *text, struct pieces *pieces)
{
    size_t digits = strspn(text + (text[0] == '-'), "0123456789");
    size_t len = digits + (text[0] == '-');

    if (digits == 0 || digits > 10 || labs(strtol(text, NULL, 10)) > NUMBER_MAX)
        return 0;
    add(pieces, text, len)->number = strtol(text, NULL, 10);
    return len;
}

static size_t take_word(const char *pattern, const char *text, struct pieces *pieces)
{
    size_t len = 0;

    while (text[len] > ' ' &&
           (pattern[0] == '\0' || pattern[0] == '*' || text[len] != pattern[0]))
        len++;
    if (len > 0)
        add(pieces, text, len);
    return len;
}

/* The result of a match. NEVER: even a longer match of an earlier star cannot help. */
enum fit { NOT, FITS, NEVER };

static enum fit fits_rest(const char *pattern, const char *text, struct pieces *pieces);

/* Match the pattern between two stars at its first occurrence, because a later occurrence
 * would only leave less text for the rest. */
static enum fit take_any(const char *pattern, const char *text, struct pieces *pieces)
{
    size_t n = pieces->n, len = strlen(text);

    for (size_t i = *pattern ? 0 : len; i <= len; i++) {
        enum fit fit;

        pieces->n = n;
        add(pieces, text, i);
        fit = fits_rest(pattern, text + i, pieces);
        if (fit != NOT)
            return fit;
    }
    return NEVER;
}

/* Match the rest of a form. The recursion depth is the number of stars in a form, which
 * is small. */
static enum fit fits_rest(const char *pattern, const char *text, struct pieces *pieces)
{
    for (; *pattern; pattern++) {
        size_t len = 1;

        if (*pattern == '*')
            return take_any(pattern + 1, text, pieces);
        if (*pattern == ' ')
            len = strspn(text, " ");
        else if (*pattern == '#')
            len = take_number(text, pieces);
        else if (*pattern == '$')
            len = take_word(pattern + 1, text, pieces);
        else if (*pattern != *text)
            return NOT;
        if (len == 0 && *pattern != ' ')
            return NOT;
        text += len;
    }
    return text[strspn(text, " \r")] == '\0' ? FITS : NOT;
}

bool pattern_fits(const char *pattern, const char *text, struct pieces *pieces)
{
    pieces->n = 0;
    return fits_rest(pattern, text, pieces) == FITS;
}

void piece_copy(const struct piece *piece, char *out, size_t size)
{
    size_t len = piece->len < size ? piece->len : size - 1;

    memcpy(out, piece->text, len);
    out[len] = '\0';
}
