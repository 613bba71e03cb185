/* SPDX-License-Identifier: Apache-2.0 */
/* result_record.h - reads the fields of a result that summaries need besides the event's
 * text */
#ifndef RINGBENCH_SERVER_SUMMARY_RESULT_RECORD_H
#define RINGBENCH_SERVER_SUMMARY_RESULT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/result/noise.h"

struct result_record {
    int64_t event; /* event id, set once the event is stored */
    int64_t time_ms;
    int case_no, attempt;
    int cycle, row, rank; /* -1: none */
    int key;              /* number of the key text that identifies the series */
    int choice;           /* number of the text with NCCL's choices, or -1 */
    bool is_figure;       /* a program's figure: value, x and rank are valid */
    bool is_skipped;      /* the event contains a reason instead of times or a value */
    bool is_noisy;        /* the time is less precise than requested */
    bool has_more;        /* the event reports late ranks or wrong elements */
    int64_t size;         /* bytes; 0 for a figure */
    int64_t count;        /* elements; 0 for a figure */
    double time_us, time_min_us, time_max_us;
    double time_low_us, time_high_us; /* confidence interval of the time; 0 and 0: none */
    double algbw_gbs, busbw_gbs;
    double value, x;
    int64_t wrong; /* -1: not checked */
};

/* Add two nonnegative numbers of wrong elements. The result is at most INT64_MAX. */
static inline int64_t result_record_add_wrong(int64_t sum, int64_t wrong)
{
    return wrong > INT64_MAX - sum ? INT64_MAX : sum + wrong;
}

/* Return the precision of a record's time, or of the time in a `result` event's body. */
struct certainty result_record_certainty(const struct result_record *record);
struct certainty result_certainty(const json_t *body);

/* Fill *record from the body (borrowed) of a `result` event. The caller sets event,
 * time_ms, key and choice. */
void result_record_figures(const json_t *body, struct result_record *record);

/* Like result_record_figures(), and return two texts that the caller frees. *key: JSON of
 * the fields that the result's series shares (see summary.h). *choice: JSON of the part
 * of `nccl` that many rows can share, or NULL if `nccl` names no algorithm. */
void result_record_read(const json_t *body, struct result_record *record, char **key,
                        char **choice);

#endif
