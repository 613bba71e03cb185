/* bands.c - the bands of sizes in which figures are judged */
#include "server/analysis/bands.h"

#include <string.h>

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
/* Rows say what is left of a size when it was divided among ranks in whole 16 bytes: of
 * 4 MiB on three ranks 4,194,288. */
#define ROUNDING 128

static const struct {
    const char *name, *where;
    int64_t from; /* bytes */
    enum band_figure figure;
} bands[BANDS] = {
    [BAND_LATENCY] = {"latency", "up to 16K", 0, BAND_TIME},
    [BAND_MIDDLE] = {"middle", "between 16K and 4M", 16 * KIB + 1, BAND_TIME},
    [BAND_BANDWIDTH] = {"bandwidth", "from 4M up", 4 * MIB - 4 * MIB / ROUNDING,
                        BAND_BUSBW},
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

const char *band_name(enum band band)
{
    return bands[band].name;
}

int band_lookup(const char *name)
{
    for (int i = 0; i < BANDS; i++)
        if (strcmp(bands[i].name, name) == 0)
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

const char *band_figure_name(enum band_figure figure)
{
    return figures[figure];
}
