/* SPDX-License-Identifier: Apache-2.0 */
/* collective_json.c - writes the properties of collectives, data types and reductions as
 * JSON */
#include "common/spec/collective_json.h"

#include "common/spec/collective.h"

static const char *const shapes[] = {
    [SHAPE_FLAT] = "flat",
    [SHAPE_SPREAD] = "spread",
    [SHAPE_NARROW] = "narrow",
    [SHAPE_SQUARE] = "square",
};

static json_t *facts_json(const struct collective_facts *facts)
{
    return json_pack("{s:s, s:s, s:{s:s, s:i, s:i}, s:b, s:b, s:b, s:b, s:b}", "name",
                     facts->name, "shape", shapes[facts->shape], "bus_factor", "formula",
                     facts->factor->formula, "times", facts->factor->times, "less",
                     facts->factor->less, "reduces", facts->reduces, "rooted",
                     facts->is_rooted, "power_of_two", facts->needs_power_of_two,
                     "needs_counts", facts->needs_counts, "checks_in_place",
                     facts->checks_in_place);
}

json_t *collective_json(void)
{
    json_t *out = json_pack("{s:[], s:[], s:[]}", "collectives", "dtypes", "redops");

    for (int i = 0; i < COLLECTIVE_COUNT; i++)
        json_array_append_new(json_object_get(out, "collectives"),
                              facts_json(collective_facts((enum collective_kind)i)));
    for (int i = 0; i < DTYPE_COUNT; i++)
        json_array_append_new(json_object_get(out, "dtypes"),
                              json_pack("{s:s, s:i}", "name", dtype_name((enum dtype)i),
                                        "bytes", (int)dtype_size((enum dtype)i)));
    for (int i = 0; i < REDOP_COUNT; i++)
        json_array_append_new(json_object_get(out, "redops"),
                              json_string(redop_name((enum redop)i)));
    return out;
}
