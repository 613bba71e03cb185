/* gate_baseline.c - how a run does against its baseline, as a check */
#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/gate_check.h"

#define NAMED_MAX 3 /* runs, in the sentence */

/* Bands with that answer. */
static size_t count(const json_t *bands, enum verdict_answer answer)
{
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(bands); i++)
        n += strcmp(json_get_str(json_array_get(bands, i), "answer", ""),
                    verdict_answer_name(answer)) == 0;
    return n;
}

/* "against 06cw1x2k3m4n and 4 more: " */
static size_t put_against(const struct gate_run *run, char *out, size_t size)
{
    size_t n = json_array_size(run->against);
    int at = snprintf(out, size, "against ");

    for (size_t i = 0; i < n && i < NAMED_MAX && at > 0 && (size_t)at < size; i++)
        at += snprintf(out + at, size - (size_t)at, "%s%s", i ? ", " : "",
                       json_string_value(json_array_get(run->against, i)));
    if (n > NAMED_MAX && at > 0 && (size_t)at < size)
        at += snprintf(out + at, size - (size_t)at, " and %zu more", n - NAMED_MAX);
    return at > 0 && (size_t)at < size ? (size_t)at : size - 1;
}

void gate_check_baseline(const struct gate_run *run, struct gate_check *check)
{
    json_t *verdict = json_object_get(run->compared, "verdict");
    const json_t *bands = json_object_get(json_object_get(verdict, "evidence"), "bands");
    int64_t left_out = json_get_int(run->compared, "sizes_left_out", 0);
    size_t n;

    if (strcmp(run->state, "completed") != 0) {
        gate_not_evaluated(check, "the run %s", run->state);
        return;
    }
    if (!verdict) {
        gate_not_evaluated(check, "%s",
                           run->not_compared ? run->not_compared
                                             : "the run's results can't be read");
        return;
    }
    check->evidence =
        json_pack("{s:O, s:O}", "against", run->against, "comparison", verdict);
    n = put_against(run, check->sentence, sizeof(check->sentence));
    if (left_out > 0)
        n += (size_t)snprintf(check->sentence + n, sizeof(check->sentence) - n,
                              ", %lld sizes of which are not in this run",
                              (long long)left_out);
    snprintf(check->sentence + n, sizeof(check->sentence) - n, ": %s",
             json_get_str(verdict, "sentence", ""));
    /* What could not be told of a band, or was not measured, is no pass. */
    if (count(bands, VERDICT_WORSE) > 0)
        check->answer = VERDICT_FAIL;
    else if (json_array_size(bands) == 0 || left_out > 0 ||
             count(bands, VERDICT_NOT_ENOUGH_DATA) > 0)
        check->answer = VERDICT_NOT_EVALUATED;
}
