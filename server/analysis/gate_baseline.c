/* SPDX-License-Identifier: Apache-2.0 */
/* gate_baseline.c - checks a run by comparing it with its baseline */
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/gate_check.h"
#include "server/analysis/lasting_changes.h"

static json_t *bands_of(const json_t *compared)
{
    const json_t *verdict = json_object_get(compared, "verdict");

    return json_object_get(json_object_get(verdict, "evidence"), "bands");
}

/* Return true if a band is slower, at least at some sizes. */
static bool is_slower(const json_t *band)
{
    return verdict_has_answer(band, VERDICT_WORSE) ||
           verdict_has_answer(band, VERDICT_MIXED);
}

static size_t count_open(const json_t *bands)
{
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(bands); i++)
        n += verdict_has_answer(json_array_get(bands, i), VERDICT_NOT_ENOUGH_DATA);
    return n;
}

static bool is_any_slower(const json_t *bands)
{
    for (size_t i = 0; i < json_array_size(bands); i++)
        if (is_slower(json_array_get(bands, i)))
            return true;
    return false;
}

/* Return true if a band is slower in both comparisons. */
static bool is_slower_again(const json_t *bands, const json_t *again)
{
    for (size_t i = 0; i < json_array_size(bands); i++) {
        const json_t *band = json_array_get(bands, i);

        for (size_t k = 0; is_slower(band) && k < json_array_size(again); k++) {
            const json_t *other = json_array_get(again, k);

            if (is_slower(other) &&
                json_equal(json_object_get(band, "about"),
                           json_object_get(other, "about")) &&
                json_equal(json_object_get(band, "band"), json_object_get(other, "band")))
                return true;
        }
    }
    return false;
}

/* Request another measurement for a slower run, and fail it only if that measurement is
 * slower, too. One in a hundred measurements is slower by chance. */
static void judge_slower(const struct gate_run *run, struct gate_check *check)
{
    json_t *again = json_object_get(run->again, "verdict");

    if (again) {
        json_object_set(check->evidence, "again", again);
        if (is_slower_again(bands_of(run->compared), bands_of(run->again)))
            check->answer = VERDICT_FAIL;
        return;
    }
    check->answer = VERDICT_NOT_EVALUATED;
    check->wants_again = !run->not_again;
}

/* Record a lasting change. The change fails the run only if a user accepted the
 * reference. Otherwise, nobody has confirmed that the oldest runs are normal. Return true
 * if the change fails the run; the caller's sentence then begins with the change. */
static bool judge_lasting(const struct gate_run *run, struct gate_check *check)
{
    const json_t *changes = json_object_get(run->lasting, "changes");
    bool is_cause = lasting_changes_have_slower(changes) &&
                    json_is_string(json_object_get(run->lasting, "accepted"));

    if (json_array_size(changes) > 0)
        json_object_set(check->evidence, "lasting", run->lasting);
    if (is_cause)
        check->answer = VERDICT_FAIL;
    return is_cause;
}

void gate_check_baseline(const struct gate_run *run, struct gate_check *check)
{
    json_t *verdict = json_object_get(run->compared, "verdict");
    const json_t *bands = bands_of(run->compared);
    int64_t left_out = json_get_int(run->compared, "sizes_left_out", 0);
    bool is_slower, is_cause;

    if (strcmp(run->state, "completed") != 0) {
        gate_not_completed(check, run);
        return;
    }
    if (!verdict) {
        gate_not_evaluated(check, "%s",
                           run->not_compared ? run->not_compared
                                             : "the run's results cannot be read");
        return;
    }
    check->evidence =
        json_pack("{s:O, s:O}", "against", run->against, "comparison", verdict);
    /* A band without an answer, or a missing size, prevents a pass. */
    if (json_array_size(bands) == 0 || left_out > 0 || count_open(bands) > 0)
        check->answer = VERDICT_NOT_EVALUATED;
    is_slower = is_any_slower(bands);
    if (is_slower)
        judge_slower(run, check);
    is_cause = judge_lasting(run, check);
    gate_say(check, NULL,
             "[{is_cause?}{change}; ]against {against:names 3}[{left_out?} ({left_out} "
             "sizes are missing in some cases)]: {comparison.sentence}[; measured "
             "again: {again.sentence}|; not measured again: {not_again}]"
             "[{is_cause?}|; {change}]",
             json_pack("{s:b, s:I, s:s*, s:o}", "is_cause", (int)is_cause, "left_out",
                       (json_int_t)left_out, "not_again",
                       is_slower ? run->not_again : NULL, "change",
                       lasting_changes_text(json_object_get(run->lasting, "changes"))));
}
