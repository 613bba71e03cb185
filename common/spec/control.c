/* control.c - what the control series measures, and what a run can choose of it */
#include "common/spec/control.h"

#include <string.h>

/* JSON around the text of an object: names, the rank's digits, the flag. */
#define AROUND 64

static const struct {
    const char *name, *figures[CONTROL_FIGURES_MAX + 1];
} kinds[CONTROL_COUNT] = {
    [CONTROL_BARRIER] = {"barrier", {"barrier"}},
    [CONTROL_GATHER_OBJECT] = {"gather_object",
                               {"gather_object", "reduce_flag", "object_slower"}},
    [CONTROL_CHUNKS] = {"chunks", {"one_large", "many_small", "many_slower"}},
};

const char *control_name(enum control_kind kind)
{
    return kinds[kind].name;
}

int control_lookup(const char *name)
{
    for (int i = 0; i < CONTROL_COUNT; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return i;
    return -1;
}

const char *control_figure(enum control_kind kind, size_t i)
{
    return i < CONTROL_FIGURES_MAX ? kinds[kind].figures[i] : NULL;
}

size_t control_figures(const struct control_plan *plan)
{
    size_t n = 0;

    for (int kind = 0; kind < CONTROL_COUNT; kind++)
        for (size_t i = 0; plan->kinds & (1u << kind) && kinds[kind].figures[i]; i++)
            n++;
    return n;
}

uint64_t control_chunk_bytes(const struct control_plan *plan)
{
    uint64_t pieces = (uint64_t)plan->pieces;

    return plan->bytes / sizeof(float) / pieces * pieces * sizeof(float);
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + CONTROL_ALIGNMENT - 1) / CONTROL_ALIGNMENT * CONTROL_ALIGNMENT;
}

uint64_t control_object_most(const struct control_plan *plan)
{
    return round_up((uint64_t)plan->object_bytes + AROUND);
}

uint64_t control_lengths_bytes(int n)
{
    return round_up((uint64_t)n * sizeof(int64_t));
}

uint64_t control_bytes(const struct control_plan *plan, enum control_kind kind, int n)
{
    switch (kind) {
    case CONTROL_GATHER_OBJECT:
        return 2 * (control_lengths_bytes(n) + (uint64_t)n * control_object_most(plan));
    case CONTROL_CHUNKS:
        return control_chunk_bytes(plan);
    case CONTROL_BARRIER:
    case CONTROL_COUNT:
        break;
    }
    return 2 * CONTROL_ALIGNMENT;
}

uint64_t control_bytes_most(const struct control_plan *plan, int n, uint64_t limit)
{
    uint64_t most = 0;

    for (int kind = 0; kind < CONTROL_COUNT; kind++) {
        uint64_t bytes = plan->kinds & (1u << kind)
                             ? control_bytes(plan, (enum control_kind)kind, n)
                             : 0;

        most = bytes <= limit && bytes > most ? bytes : most;
    }
    return most;
}
