/* median.c - the median of values as they come */
#include "common/base/median.h"

#include <stdlib.h>

void median_release(struct median *median)
{
    free(median->low.items);
    free(median->high.items);
    *median = (struct median){0};
}

/* The least on top; the lower half keeps its values negated, so one order is enough. */
static int push(struct median_heap *heap, double value)
{
    size_t at = heap->n;

    if (heap->n == heap->capacity) {
        size_t wanted = heap->capacity ? heap->capacity * 2 : 8;
        double *more = realloc(heap->items, wanted * sizeof(*more));

        if (!more)
            return -1;
        heap->items = more;
        heap->capacity = wanted;
    }
    for (; at > 0 && heap->items[(at - 1) / 2] > value; at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = value;
    heap->n++;
    return 0;
}

static double pop(struct median_heap *heap)
{
    double top = heap->items[0], last = heap->items[--heap->n];
    size_t at = 0;

    for (size_t child = 1; child < heap->n; child = 2 * at + 1) {
        if (child + 1 < heap->n && heap->items[child + 1] < heap->items[child])
            child++;
        if (heap->items[child] >= last)
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = last;
    return top;
}

int median_add(struct median *median, double value)
{
    struct median_heap *low = &median->low, *high = &median->high;

    if (low->n == 0 || value <= -low->items[0]) {
        if (push(low, -value))
            return -1;
    } else if (push(high, value)) {
        return -1;
    }
    /* low has as many as high, or one more. What was popped leaves room to be put back.
     */
    if (low->n > high->n + 1) {
        double top = -pop(low);

        if (push(high, top))
            return push(low, -top);
    } else if (high->n > low->n) {
        double top = pop(high);

        if (push(low, -top))
            return push(high, top);
    }
    return 0;
}

size_t median_count(const struct median *median)
{
    return median->low.n + median->high.n;
}

/* Their sum may be more than there are numbers. */
static double middle(double a, double b)
{
    return a / 2.0 + b / 2.0;
}

double median_of(const struct median *median)
{
    const struct median_heap *low = &median->low, *high = &median->high;

    if (low->n == 0)
        return 0.0;
    return low->n > high->n ? -low->items[0] : middle(-low->items[0], high->items[0]);
}

double median_of_sorted(const double *values, size_t n)
{
    return n % 2 ? values[n / 2] : middle(values[n / 2 - 1], values[n / 2]);
}
