/* SPDX-License-Identifier: Apache-2.0 */
/* test_conditions.c - the numbers beside a case: their table, their sentences, the docs.
 * After a change of the table RINGBENCH_WRITE_GOLDEN=1 writes the docs' part anew. */
#include "common/base/buf.h"
#include "common/result/conditions.h"
#include "tests/unit/golden_file.h"
#include "tests/unit/test.h"

static void forget_all(double values[CONDITION_COUNT])
{
    for (int i = 0; i < CONDITION_COUNT; i++)
        values[i] = (double)NAN;
}

TEST(what_is_not_known_is_absent)
{
    double values[CONDITION_COUNT], read[CONDITION_COUNT];
    json_t *object;

    forget_all(values);
    values[CONDITION_LOAD] = 0.12345;
    values[CONDITION_STEAL] = (double)INFINITY;
    object = conditions_json(values);
    assert_int_equal(json_object_size(object), 1);
    json_object_set_new(object, "seconds", json_string("3"));
    json_object_set_new(object, "strange", json_integer(3));
    conditions_read(object, read);
    assert_true(fabs(read[CONDITION_LOAD] - 0.123) < 1e-9);
    assert_true(isnan(read[CONDITION_STEAL]) && isnan(read[CONDITION_SECONDS]));
    json_decref(object);
}

TEST(only_what_matters_gets_a_sentence)
{
    static const struct {
        enum condition which;
        double value;
        const char *note; /* or NULL */
    } samples[] = {
        {CONDITION_STEAL, 0.9, NULL},
        {CONDITION_STEAL, 3.21, "the hypervisor took 3.2 % of the CPU time"},
        {CONDITION_OTHERS, 0.2, NULL},
        {CONDITION_OTHERS, 1.0, "other processes used 1.0 cores"},
        {CONDITION_OTHERS, 12.6, "other processes used 13 cores"},
        {CONDITION_THERMAL, 0.0, NULL},
        {CONDITION_THERMAL, 2.0, "cores were throttled for heat 2 times"},
        {CONDITION_QUOTA, 40.0, "a CPU quota held the node back for 40 % of the time"},
        {CONDITION_LOAD, 1e6, NULL},
    };

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        double values[CONDITION_COUNT];
        json_t *notes;

        forget_all(values);
        values[samples[i].which] = samples[i].value;
        notes = conditions_notes(values);
        assert_int_equal(json_array_size(notes), samples[i].note ? 1 : 0);
        if (samples[i].note)
            assert_string_equal(json_string_value(json_array_get(notes, 0)),
                                samples[i].note);
        json_decref(notes);
    }
}

static void put_fields(struct buf *out)
{
    buf_append_str(out, "| number | unit | reported | meaning |\n|---|---|---|---|\n");
    for (int i = 0; i < CONDITION_COUNT; i++) {
        const struct condition_field *field = condition_field((enum condition)i);
        char limit[32] = "";

        if (isfinite(field->limit))
            snprintf(limit, sizeof(limit), "above %g", field->limit);
        buf_printf(out, "| `%s` | %s | %s | %s |\n", field->name, field->unit, limit,
                   field->meaning);
    }
}

TEST(the_docs_show_each_number)
{
    golden_compare_part("reference/conditions.md", "<!-- conditions -->\n",
                        "<!-- end of conditions -->", put_fields);
}
