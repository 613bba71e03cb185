/* thin.c - fewer points of a line that still show what was remarkable */
#include "server/summary/thin.h"

/* The two of points first..end (exclusive) that stand for them, in order. */
static size_t choose_two(const struct thin_line *line, size_t first, size_t end,
                         size_t *kept)
{
    size_t least = first, greatest = first, worst = first, other;

    for (size_t i = first + 1; i < end; i++) {
        double value = line->value(line->line, i);

        if (value < line->value(line->line, least))
            least = i;
        if (value > line->value(line->line, greatest))
            greatest = i;
        if (line->alarm && line->alarm(line->line, i) > line->alarm(line->line, worst))
            worst = i;
    }
    other = line->alarm && line->alarm(line->line, worst) > 0.0 ? worst : least;
    kept[0] = other < greatest ? other : greatest;
    if (other == greatest)
        return 1;
    kept[1] = other < greatest ? greatest : other;
    return 2;
}

size_t thin_choose(const struct thin_line *line, size_t most, size_t *kept)
{
    size_t stretches = (most - 2) / 2, n = 0, inner;

    if (line->n <= most) {
        for (size_t i = 0; i < line->n; i++)
            kept[i] = i;
        return line->n;
    }
    inner = line->n - 2;
    kept[n++] = 0;
    for (size_t i = 0; i < stretches; i++) {
        size_t first = 1 + inner * i / stretches;
        size_t end = 1 + inner * (i + 1) / stretches;

        n += choose_two(line, first, end, kept + n);
    }
    kept[n++] = line->n - 1;
    return n;
}

size_t thin_share(size_t n, size_t total, size_t lines, size_t budget)
{
    size_t spare = budget - lines * THIN_LEAST;
    size_t share;

    if (total <= budget)
        return n;
    share = THIN_LEAST + (size_t)((double)spare * (double)n / (double)total);
    return share < n ? share : n;
}
