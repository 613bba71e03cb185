/* gate_baseline.c - how a run does against its baseline, as a check */
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/analysis/gate_check.h"
#include "server/analysis/lasting_changes.h"

#define NAMED_MAX 3 /* runs, in the sentence */

static json_t *bands_of(const json_t *compared)
{
    const json_t *verdict = json_object_get(compared, "verdict");

    return json_object_get(json_object_get(verdict, "evidence"), "bands");
}

/* Slower than usual, at some sizes at least. */
static bool is_slower(const json_t *band)
{
    return verdict_says(band, VERDICT_WORSE) || verdict_says(band, VERDICT_MIXED);
}

static size_t count_open(const json_t *bands)
{
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(bands); i++)
        n += verdict_says(json_array_get(bands, i), VERDICT_NOT_ENOUGH_DATA);
    return n;
}

static bool is_any_slower(const json_t *bands)
{
    for (size_t i = 0; i < json_array_size(bands); i++)
        if (is_slower(json_array_get(bands, i)))
            return true;
    return false;
}

/* Bands that are slower in both. */
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

/* A run that is slower once is measured again, and fails if it is slower again: one
 * slower measurement in a hundred is chance. */
static void judge_slower(const struct gate_run *run, struct gate_check *check, size_t n)
{
    const json_t *bands = bands_of(run->compared);
    json_t *again = json_object_get(run->again, "verdict");
    char *end = check->sentence + n;
    size_t room = sizeof(check->sentence) - n;

    if (again) {
        json_object_set(check->evidence, "again", again);
        if (is_slower_again(bands, bands_of(run->again)))
            check->answer = VERDICT_FAIL;
        snprintf(end, room, "; measured again: %s", json_get_str(again, "sentence", ""));
        return;
    }
    check->answer = VERDICT_NOT_EVALUATED;
    if (run->not_again)
        snprintf(end, room, "; not measured again: %s", run->not_again);
    else
        check->wants_again = true;
}

/* A lasting change is told in any case. It fails a run whose reference somebody accepted,
 * and is told first then; without one nobody has said that the oldest runs are normal. */
static void judge_lasting(const struct gate_run *run, struct gate_check *check)
{
    const json_t *changes = json_object_get(run->lasting, "changes");
    bool is_cause = lasting_changes_have_slower(changes) &&
                    json_is_string(json_object_get(run->lasting, "accepted"));
    struct buf text;

    if (json_array_size(changes) == 0)
        return;
    json_object_set(check->evidence, "lasting", run->lasting);
    buf_init(&text, 2 * sizeof(check->sentence));
    if (!is_cause)
        buf_printf(&text, "%s; ", check->sentence);
    lasting_changes_put(changes, &text);
    if (is_cause) {
        check->answer = VERDICT_FAIL;
        buf_printf(&text, "; %s", check->sentence);
    }
    snprintf(check->sentence, sizeof(check->sentence), "%s", text.data);
    buf_release(&text);
}

void gate_check_baseline(const struct gate_run *run, struct gate_check *check)
{
    json_t *verdict = json_object_get(run->compared, "verdict");
    const json_t *bands = bands_of(run->compared);
    int64_t left_out = json_get_int(run->compared, "sizes_left_out", 0);
    size_t n;

    if (strcmp(run->state, "completed") != 0) {
        gate_not_completed(check, run);
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
    n += (size_t)snprintf(check->sentence + n, sizeof(check->sentence) - n, ": %s",
                          json_get_str(verdict, "sentence", ""));
    if (n >= sizeof(check->sentence))
        n = sizeof(check->sentence) - 1;
    /* What could not be told of a band, or was not measured, is no pass. */
    if (json_array_size(bands) == 0 || left_out > 0 || count_open(bands) > 0)
        check->answer = VERDICT_NOT_EVALUATED;
    if (is_any_slower(bands))
        judge_slower(run, check, n);
    judge_lasting(run, check);
}
