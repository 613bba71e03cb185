/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - enumerates the rows of a case in their order */
#include "common/spec/series.h"

#include <string.h>

static size_t variants(const struct series_plan *plan)
{
    return (plan->out_of_place ? 1 : 0) + (plan->in_place ? 1 : 0);
}

/* Return the number of (redop, root) combinations for a collective. */
static size_t redop_choices(const struct series_plan *plan, enum collective_kind kind)
{
    return collective_facts(kind)->reduces ? plan->n_redops : 1;
}

static size_t root_choices(const struct series_plan *plan, enum collective_kind kind)
{
    if (!collective_facts(kind)->is_rooted || plan->root >= 0)
        return 1;
    return (size_t)plan->world_size;
}

static size_t lines_of(const struct series_plan *plan, enum collective_kind kind)
{
    return plan->n_dtypes * redop_choices(plan, kind) * root_choices(plan, kind);
}

static size_t groups(const struct series_plan *plan)
{
    return plan->n_groups > 1 ? (size_t)plan->n_groups : 1;
}

static size_t cycles(const struct series_plan *plan)
{
    return plan->cycles > 1 ? (size_t)plan->cycles : 1;
}

size_t series_rows(const struct series_plan *plan)
{
    size_t lines = 0;

    for (size_t i = 0; i < plan->n_collectives; i++)
        lines += lines_of(plan, plan->collectives[i]);
    return lines * plan->n_sizes * variants(plan) * groups(plan) * cycles(plan);
}

/* Fill in the values of line number `line` of a collective. */
static void describe_line(const struct series_plan *plan, enum collective_kind kind,
                          size_t line, struct series_row *out)
{
    size_t roots = root_choices(plan, kind);
    size_t ops = redop_choices(plan, kind);

    out->collective = kind;
    out->dtype = plan->dtypes[line / (ops * roots)];
    out->redop = -1;
    if (collective_facts(kind)->reduces)
        out->redop = (int)plan->redops[line / roots % ops];
    out->root = -1;
    if (collective_facts(kind)->is_rooted)
        out->root = plan->root >= 0 ? (int)plan->root : (int)(line % roots);
}

bool series_row_at(const struct series_plan *plan, size_t row, struct series_row *out)
{
    size_t both = variants(plan), n_groups = groups(plan);
    size_t per_line = plan->n_sizes * both;
    size_t per_cycle = series_rows(plan) / cycles(plan);
    size_t at, line, first = 0, variant;

    if (per_line == 0 || row >= series_rows(plan))
        return false;
    at = row % per_cycle / n_groups;
    line = at / per_line;
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < plan->n_collectives; i++) {
        size_t here = lines_of(plan, plan->collectives[i]);

        if (line < first + here) {
            describe_line(plan, plan->collectives[i], line - first, out);
            break;
        }
        first += here;
    }
    variant = at % both;
    out->row = row;
    out->cycle = (long)(row / per_cycle);
    out->group = (int)(row % n_groups);
    out->series = (line * both + variant) * n_groups + row % n_groups;
    out->in_place = plan->out_of_place ? variant == 1 : true;
    out->size = plan->sizes[at % per_line / both];
    return true;
}
