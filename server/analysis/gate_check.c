/* gate_check.c - one check of a run: what the kinds of checks share */
#include "server/analysis/gate_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

const char *gate_number_text(double value, char out[32])
{
    snprintf(out, 32, fabs(value) >= 1000.0 && fabs(value) < 1e15 ? "%.0f" : "%.4g",
             value);
    return out;
}

const char *gate_bounds_text(const struct threshold *threshold, const char *unit,
                             char out[GATE_TEXT_MAX])
{
    char min[32], max[32];

    gate_number_text(threshold->min, min);
    gate_number_text(threshold->max, max);
    if (isinf(threshold->max))
        snprintf(out, GATE_TEXT_MAX, "at least %s%s", min, unit);
    else if (isinf(threshold->min))
        snprintf(out, GATE_TEXT_MAX, "at most %s%s", max, unit);
    else if (threshold->min < threshold->max)
        snprintf(out, GATE_TEXT_MAX, "from %s to %s%s", min, max, unit);
    else
        snprintf(out, GATE_TEXT_MAX, "exactly %s%s", min, unit);
    return out;
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
