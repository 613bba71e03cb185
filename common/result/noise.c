/* SPDX-License-Identifier: Apache-2.0 */
/* noise.c - decides whether a run's rows reach the precision that its spec requires */
#include "common/result/noise.h"

#include <stdio.h>

#define KNOWN_FACTOR 10
#define SAID_PART 10 /* report noise if at least one in this many rows is uncertain */

void noise_add(struct noise *noise, const struct certainty *row, double limit)
{
    if (!row->is_judged)
        return;
    noise->rows++;
    noise->uncertain += (row->below + row->above) / 2 > limit;
}

bool noise_is_said(const struct noise *noise, double half, double limit)
{
    return noise->uncertain > 0 &&
           (SAID_PART * noise->uncertain >= noise->rows || half > limit);
}

json_t *noise_json(const struct noise *noise, double half, double limit)
{
    char text[NOISE_SENTENCE_MAX];

    if (noise->rows == 0)
        return json_null();
    return json_pack(
        "{s:f, s:I, s:I, s:s*}", "limit", limit, "rows", (json_int_t)noise->rows,
        "uncertain", (json_int_t)noise->uncertain, "sentence",
        noise_is_said(noise, half, limit) ? noise_sentence(noise, limit, text) : NULL);
}

const char *noise_sentence(const struct noise *noise, double limit,
                           char text[NOISE_SENTENCE_MAX])
{
    snprintf(text, NOISE_SENTENCE_MAX, "%llu of %llu rows %s less certain than %.3g %%",
             (unsigned long long)noise->uncertain, (unsigned long long)noise->rows,
             noise->uncertain == 1 ? "is" : "are", 100 * limit);
    return text;
}

bool noise_is_known(double low, double high)
{
    return low > 0 && high <= KNOWN_FACTOR * low;
}
