/* SPDX-License-Identifier: Apache-2.0 */
/* bands.h - defines the size bands in which figures are judged. The bands were fixed
 * before any measurement, so that nobody can pick the size that shows a desired result. A
 * mean over a band reveals changes that no single size shows. */
#ifndef RINGBENCH_COMMON_SPEC_BANDS_H
#define RINGBENCH_COMMON_SPEC_BANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum band { BAND_LATENCY, BAND_MIDDLE, BAND_BANDWIDTH, BANDS };

enum band_figure { BAND_TIME, BAND_BUSBW };

enum band band_of(int64_t size); /* size in bytes, as in a row */

extern const char *const band_names[BANDS + 1]; /* such as "latency"; ends with NULL */
int band_lookup(const char *name);              /* returns -1 for an unknown name */
const char *band_where(enum band band); /* text for a sentence, such as "up to 16K" */

/* Return the figure by which a band is judged. */
enum band_figure band_figure(enum band band);
bool band_higher_is_better(enum band band);
const char *band_figure_name(
    enum band_figure figure); /* name of the row's field, such as "time_us" */

#endif
