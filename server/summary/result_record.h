/* result_record.h - what summaries need of a result, beside the text of its event */
#ifndef RINGBENCH_SERVER_SUMMARY_RESULT_RECORD_H
#define RINGBENCH_SERVER_SUMMARY_RESULT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/result/noise.h"

struct result_record {
    int64_t event; /* id, once stored */
    int64_t time_ms;
    int case_no, attempt;
    int cycle, row, rank; /* -1: has none */
    int key;              /* number of the text that says which series it is of */
    int choice;           /* and of the one that says how NCCL did its calls, or -1 */
    bool is_figure;       /* of a program: value, x and rank count */
    bool is_skipped;      /* it has a reason in place of times or a value */
    bool is_noisy;        /* its time is not known as well as asked */
    bool has_more;        /* its event tells of late ranks or of wrong elements */
    int64_t size;         /* bytes; 0 of a figure */
    int64_t count;        /* of elements; 0 of a figure */
    double time_us, time_min_us, time_max_us;
    double time_low_us, time_high_us; /* the interval of its time; 0 and 0: it has none */
    double algbw_gbs, busbw_gbs;
    double value, x;
    int64_t wrong; /* -1: not checked */
};

/* A sum of wrong elements and those of one result more, at most INT64_MAX. Both are 0 or
 * more. */
static inline int64_t result_record_add_wrong(int64_t sum, int64_t wrong)
{
    return wrong > INT64_MAX - sum ? INT64_MAX : sum + wrong;
}

/* How certain its time is, and the same of the body of a `result` event. */
struct certainty result_record_certainty(const struct result_record *record);
struct certainty result_certainty(const json_t *body);

/* Fill *record, but for event, time_ms, key and choice, from the body of a `result` event
 * (borrowed). */
void result_record_figures(const json_t *body, struct result_record *record);

/* The same, and *key: JSON of what the result's series has in common (see summary.h),
 * *choice: of its `nccl` what may be the same in many rows, NULL when that does not say
 * how. The caller frees both. */
void result_record_read(const json_t *body, struct result_record *record, char **key,
                        char **choice);

#endif
