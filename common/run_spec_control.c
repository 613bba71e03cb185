/* run_spec_control.c - what a run asks of the control series */
#include <stdio.h>
#include <string.h>

#include "common/run_spec_fields.h"

#define ALL_KINDS ((1u << CONTROL_COUNT) - 1)

static unsigned parse_series(json_t *value, const char *pointer,
                             struct problems *problems)
{
    unsigned kinds = 0;
    char at[300];

    if (!json_is_array(value) || json_array_size(value) == 0) {
        problems_add(problems, pointer, "must be an array of at least one name");
        return 0;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));
        int kind = name ? control_lookup(name) : -1;

        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        if (kind < 0)
            problems_add(problems, at, "must be one of barrier, gather_object, chunks");
        else if (kinds & (1u << kind))
            problems_add(problems, at, "%s is listed twice", name);
        else
            kinds |= 1u << kind;
    }
    return kinds;
}

static void parse_member(struct control_plan *plan, const char *key, json_t *value,
                         const char *at, struct problems *problems)
{
    if (strcmp(key, "series") == 0)
        plan->kinds = parse_series(value, at, problems);
    else if (strcmp(key, "bytes") == 0)
        plan->bytes = spec_parse_size(value, at, problems);
    else if (strcmp(key, "pieces") == 0)
        spec_parse_integer(value, 1, CONTROL_PIECES_MAX, &plan->pieces, at, problems);
    else if (strcmp(key, "object_bytes") == 0)
        spec_parse_integer(value, 1, CONTROL_OBJECT_BYTES_MAX, &plan->object_bytes, at,
                           problems);
    else if (strcmp(key, "iters") == 0)
        spec_parse_integer(value, 1, CONTROL_ITERS_MAX, &plan->iters, at, problems);
    else
        problems_add(problems, at,
                     "unknown field; known are series, bytes, pieces, object_bytes, "
                     "iters");
}

void run_spec_parse_control(struct run_spec *spec, json_t *value, const char *pointer,
                            struct problems *problems)
{
    struct control_plan *plan = &spec->control;
    const char *key;
    json_t *member;
    char at[256];

    if (json_is_boolean(value)) {
        plan->kinds = json_is_true(value) ? ALL_KINDS : 0;
        return;
    }
    if (json_is_array(value)) {
        plan->kinds = parse_series(value, pointer, problems);
        return;
    }
    if (!json_is_object(value)) {
        problems_add(problems, pointer,
                     "must be true, false, an array of names or an object, not %s",
                     spec_type_name(value));
        return;
    }
    plan->kinds = ALL_KINDS;
    json_object_foreach(value, key, member)
    {
        spec_child_pointer(at, sizeof(at), pointer, key);
        parse_member(plan, key, member, at, problems);
    }
    snprintf(at, sizeof(at), "%s/pieces", pointer);
    if (plan->bytes && plan->bytes / (uint64_t)plan->pieces < sizeof(float))
        problems_add(problems, at, "leaves less than 4 bytes for each piece");
}
