/* SPDX-License-Identifier: Apache-2.0 */
/* bands.h - the size bands in which figures are judged. The bands were fixed before any
 * measurement, so that nobody can pick the size that shows a wanted result. A mean over a
 * band reveals changes that no single size shows. */
#ifndef RINGBENCH_COMMON_SPEC_BANDS_H
#define RINGBENCH_COMMON_SPEC_BANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum band { BAND_LATENCY, BAND_MIDDLE, BAND_BANDWIDTH, BANDS };

enum band_figure { BAND_TIME, BAND_BUSBW };

enum band band_of(int64_t size); /* bytes, as a row says it */

extern const char *const band_names[BANDS + 1]; /* "latency"; ends with NULL */
int band_lookup(const char *name);              /* -1 if unknown */
const char *band_where(enum band band);         /* "up to 16K", within a sentence */

/* The figure by which a band is judged. */
enum band_figure band_figure(enum band band);
bool band_higher_is_better(enum band band);
const char *band_figure_name(enum band_figure figure); /* as a row has it: "time_us" */

#endif
