/* SPDX-License-Identifier: Apache-2.0 */
/* gate_check.c - provides helpers for the checks of a run */
#include "server/analysis/gate_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/finding/template.h"

void gate_not_evaluated(struct gate_check *check, const char *format, ...)
{
    va_list args;

    check->answer = VERDICT_NOT_EVALUATED;
    va_start(args, format);
    vsnprintf(check->sentence, sizeof(check->sentence), format, args);
    va_end(args);
}

void gate_not_completed(struct gate_check *check, const struct gate_run *run)
{
    gate_not_evaluated(check, "the run %s%s",
                       strcmp(run->state, "failed") == 0 ? "" : "was ", run->state);
}

bool gate_is_within(const struct threshold *threshold, double value)
{
    return value >= threshold->min && value <= threshold->max;
}

static double share_of(double distance, double bound)
{
    return bound != 0.0 ? distance / fabs(bound) : distance;
}

double gate_room(const struct threshold *threshold, double value)
{
    double below = isfinite(threshold->min)
                       ? share_of(value - threshold->min, threshold->min)
                       : HUGE_VAL;
    double above = isfinite(threshold->max)
                       ? share_of(threshold->max - value, threshold->max)
                       : HUGE_VAL;

    return below < above ? below : above;
}

json_t *gate_evidence(const struct threshold *threshold, double value)
{
    json_t *out = json_pack("{s:s}", "figure", threshold_figure_name(threshold->figure));

    if (isfinite(threshold->min))
        json_object_set_new(out, "min", json_real(threshold->min));
    if (isfinite(threshold->max))
        json_object_set_new(out, "max", json_real(threshold->max));
    if (isfinite(value))
        json_object_set_new(out, "value", json_real(value));
    return out;
}

void gate_say(struct gate_check *check, const struct threshold *threshold,
              const char *text, json_t *words)
{
    json_t *sentence;

    if (threshold)
        json_object_set_new(words, "is_exact",
                            json_boolean(threshold->min >= threshold->max));
    sentence = template_text(text, check->evidence, words);
    snprintf(check->sentence, sizeof(check->sentence), "%s", json_string_value(sentence));
    json_decref(sentence);
    json_decref(words);
}
