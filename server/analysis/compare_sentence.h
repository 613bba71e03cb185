/* compare_sentence.h - a comparison in one sentence, and what to bear in mind */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_SENTENCE_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_SENTENCE_H

#include "server/analysis/compare.h"

/* What the sides are called. */
struct compare_names {
    const char *head;
    const char *setting_base, *setting_head; /* by the setting that they differ in */
};

/* All are new strings. "HEAD is 4.1 % faster from 4M up (3.2 to 5.0, 5 repeats each); no
 * difference of 2 % or more up to 16K" */
json_t *compare_sentence(const struct compare *compare,
                         const struct compare_names *names);

/* What the band is of: "all_reduce float32 sum", or a metric and its labels. */
json_t *compare_series(const struct compare_band *band);

/* Why a band has no verdict: "two states 3.1x apart in both"; "" where it has one. */
json_t *compare_why(const struct compare *compare, const struct compare_band *band);

#endif
