/* SPDX-License-Identifier: Apache-2.0 */
/* compare_sentence.h - summarizes a comparison in one sentence */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_SENTENCE_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_SENTENCE_H

#include "server/analysis/compare.h"

struct compare_names {
    const char *head;
    /* The values of the setting in which the sides differ */
    const char *setting_base, *setting_head;
};

/* Return a new string such as "HEAD is 4.1 % faster from 4M up (3.2 to 5.0, 5 repeats
 * each); no difference of 2 % or more up to 16K". */
json_t *compare_sentence(const struct compare *compare,
                         const struct compare_names *names);

/* Return the band's subject as a new string: "all_reduce float32 sum", or a metric with
 * its labels. */
json_t *compare_series(const struct compare_band *band);

/* Return the reason why a band has no verdict as a new string, such as "the values of
 * both fall into two groups 3.1x apart", or "" if the band has a verdict. */
json_t *compare_why(const struct compare *compare, const struct compare_band *band);

#endif
