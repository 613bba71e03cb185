/* SPDX-License-Identifier: Apache-2.0 */
/* bands.c - defines the size bands in which figures are judged */
#include "common/spec/bands.h"

#include <string.h>

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
/* Tolerance of the lower limit. A row's size is rounded down when it is divided among
 * ranks in units of 16 bytes: 4 MiB on three ranks becomes 4,194,288. */
#define ROUNDING 128

const char *const band_names[BANDS + 1] = {"latency", "middle", "bandwidth", NULL};

static const struct {
    const char *where;
    int64_t from; /* smallest size of the band, bytes */
    enum band_figure figure;
} bands[BANDS] = {
    [BAND_LATENCY] = {"up to 16K", 0, BAND_TIME},
    [BAND_MIDDLE] = {"between 16K and 4M", 16 * KIB + 1, BAND_TIME},
    [BAND_BANDWIDTH] = {"from 4M up", 4 * MIB - 4 * MIB / ROUNDING, BAND_BUSBW},
};

static const char *const figures[] = {
    [BAND_TIME] = "time_us", [BAND_BUSBW] = "busbw_gbs"};

enum band band_of(int64_t size)
{
    enum band band = BAND_BANDWIDTH;

    while (band > BAND_LATENCY && size < bands[band].from)
        band--;
    return band;
}

int band_lookup(const char *name)
{
    for (int i = 0; i < BANDS; i++)
        if (strcmp(band_names[i], name) == 0)
            return i;
    return -1;
}

const char *band_where(enum band band)
{
    return bands[band].where;
}

enum band_figure band_figure(enum band band)
{
    return bands[band].figure;
}

bool band_higher_is_better(enum band band)
{
    return band_figure(band) == BAND_BUSBW;
}

const char *band_figure_name(enum band_figure figure)
{
    return figures[figure];
}
