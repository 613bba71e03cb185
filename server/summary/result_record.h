/* result_record.h - a result as a record of fixed size: what a summary needs of it, so
 * that a million of them are read in a fraction of a second. In memory and in the
 * database alike, in the byte order of the machine. */
#ifndef RINGBENCH_SERVER_SUMMARY_RESULT_RECORD_H
#define RINGBENCH_SERVER_SUMMARY_RESULT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/result/noise.h"

enum result_flag {
    RESULT_FIGURE = 1,   /* of a program or the control series: value, x and rank count */
    RESULT_SKIPPED = 2,  /* it has a reason in place of times or a value */
    RESULT_NOISY = 4,    /* its time is not known as well as asked */
    RESULT_INTERVAL = 8, /* it has the interval of its time */
};

/* Above the flags: its choice_code(). Records of before there were such have 0 there. */
#define RESULT_CHOICE_AT 8

struct result_record {
    int64_t event; /* id, once stored */
    int32_t case_no, attempt;
    int32_t cycle, row, rank; /* -1: has none */
    int32_t key;              /* number of its key text within the run */
    int64_t size;             /* bytes; 0 of a figure */
    union {
        struct {
            double time_us, time_min_us, time_max_us, algbw_gbs, busbw_gbs;
        };
        struct {
            double value, x;
        };
    };
    int64_t wrong;  /* -1: not checked */
    uint32_t flags; /* enum result_flag, and more above */
    /* The interval of time_us: how far it goes to either side, in this part of it.
     * Records of before there were intervals have 0 here, and no flag. */
    uint16_t below, above;
};

#define RESULT_INTERVAL_PART 1e-4 /* so up to 6.55 times the time */

_Static_assert(sizeof(struct result_record) == 96, "as stored");

/* Its interval, in us; false: it has none. */
bool result_record_interval(const struct result_record *record, double *low,
                            double *high);

/* How certain its time is, and, as its record would have it, that of a `result`. */
struct certainty result_record_certainty(const struct result_record *record);
struct certainty result_certainty(const json_t *body);

/* Fill *record, but for event and key, from the body of a `result` event (borrowed).
 * Returns the key text, JSON of what the result's series has in common (see summary.h);
 * the caller frees it. NULL when memory is out. */
char *result_record_read(const json_t *body, struct result_record *record);

#endif
