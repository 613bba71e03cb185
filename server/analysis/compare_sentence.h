/* compare_sentence.h - a comparison in one sentence, and what to bear in mind */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_SENTENCE_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_SENTENCE_H

#include "common/base/buf.h"
#include "server/analysis/compare.h"

/* What the sides are called. */
struct compare_names {
    const char *head;
    const char *setting_base, *setting_head; /* by the setting that they differ in */
};

/* "HEAD is 4.1 % faster from 4M up (3.2 to 5.0, 5 repeats each); no difference of 2 % or
 * more up to 16K" */
void compare_put_sentence(const struct compare *compare,
                          const struct compare_names *names, struct buf *out);

/* What the band is of: "all_reduce float32 sum", or a metric and its labels. */
void compare_put_series(const struct compare_band *band, struct buf *out);

/* Why a band has no verdict: "two states 3.1x apart in both"; "" where it has one. */
void compare_put_why(const struct compare *compare, const struct compare_band *band,
                     struct buf *out);

#endif
