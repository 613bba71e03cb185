/* SPDX-License-Identifier: Apache-2.0 */
/* units.c - parses and formats sizes with suffixes: K, M, G, T are powers of 1024 */
#include "common/base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char suffixes[] = "KMGT";

/* Return the power of 1024 for a suffix such as "", "K", "KiB" or "MB", or -1. */
static int parse_suffix(const char *text)
{
    const char *letter;
    int power = 0;

    if (*text == '\0' || strcasecmp(text, "B") == 0)
        return 0;
    letter = strchr(suffixes, toupper((unsigned char)*text));
    if (!letter)
        return -1;
    power = (int)(letter - suffixes) + 1;
    text++;
    if (*text == '\0' || strcasecmp(text, "B") == 0 || strcasecmp(text, "iB") == 0)
        return power;
    return -1;
}

static int bad_size(const char *text, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "'%.40s' is not a size; write sizes as 8, 64K, 1.5M or 1G", text);
}

static int too_big(const char *text, struct error *err)
{
    return error_set(err, ERROR_LIMIT, "'%.40s' is more than 8 EiB", text);
}

int units_parse_size(const char *text, uint64_t *bytes, struct error *err)
{
    uint64_t whole = 0, fraction = 0, scale = 1, unit;
    const char *p = text;
    int power;

    if (!isdigit((unsigned char)*p))
        return bad_size(text, err);
    for (; isdigit((unsigned char)*p); p++) {
        if (whole > UINT64_MAX / 20)
            return too_big(text, err);
        whole = whole * 10 + (uint64_t)(*p - '0');
    }
    if (*p == '.') {
        if (!isdigit((unsigned char)p[1]))
            return bad_size(text, err);
        for (p++; isdigit((unsigned char)*p); p++) {
            if (scale > 1000000)
                return bad_size(text, err);
            fraction = fraction * 10 + (uint64_t)(*p - '0');
            scale *= 10;
        }
    }
    while (*p == ' ')
        p++;
    power = parse_suffix(p);
    if (power < 0)
        return bad_size(text, err);
    unit = UINT64_C(1) << (10 * power);
    if (whole > (UINT64_MAX / 2) / unit)
        return too_big(text, err);
    if (fraction * unit % scale)
        return error_set(err, ERROR_INVALID, "'%.40s' is not a whole number of bytes",
                         text);
    *bytes = whole * unit + fraction * unit / scale;
    return 0;
}

const char *units_format_size(uint64_t bytes, char text[UNITS_TEXT_MAX])
{
    int power = 0;

    while (power < 4 && bytes > 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        power++;
    }
    snprintf(text, UNITS_TEXT_MAX, "%llu%.1s", (unsigned long long)bytes,
             power ? &suffixes[power - 1] : "");
    return text;
}

const char *units_format_human(uint64_t bytes, char text[UNITS_TEXT_MAX])
{
    double value = (double)bytes;
    int power = 0;

    /* Values of 1023.5 or more would be printed as 1024. */
    while (power < 4 && value >= 1023.5) {
        value /= 1024.0;
        power++;
    }
    if (power == 0)
        snprintf(text, UNITS_TEXT_MAX, "%llu B", (unsigned long long)bytes);
    else
        snprintf(text, UNITS_TEXT_MAX, "%.*f %ciB", value < 10.0 ? 1 : 0, value,
                 suffixes[power - 1]);
    return text;
}

const char *units_real_text(double value, char text[UNITS_REAL_MAX])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, UNITS_REAL_MAX, "%.*g", digits, value);
        if (!(fabs(strtod(text, NULL) - value) > 0.0))
            break;
    }
    return text;
}
