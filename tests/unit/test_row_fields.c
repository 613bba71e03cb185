/* SPDX-License-Identifier: Apache-2.0 */
/* test_row_fields.c - the table of a result's fields is sound, and the docs show it.
 * After a change of the table RINGBENCH_WRITE_GOLDEN=1 writes the docs' part anew. */
#include "common/base/buf.h"
#include "common/result/row_fields.h"
#include "tests/unit/golden_file.h"
#include "tests/unit/test.h"
#include "tests/unit/vectors.h"

static const char *const types[] = {
    [ROW_INTEGER] = "integer",   [ROW_INTEGER_OR_NULL] = "integer or null",
    [ROW_NUMBER] = "number",     [ROW_BOOLEAN] = "boolean",
    [ROW_TRUE] = "true",         [ROW_STRING] = "string",
    [ROW_COLLECTIVE] = "string", [ROW_DTYPE] = "string",
    [ROW_REDOP] = "string",      [ROW_NUMBERS] = "array of numbers",
    [ROW_ERRORS] = "array",      [ROW_CHOICE] = "object",
    [ROW_LABELS] = "object",
};

TEST(each_field_is_there_once_and_somebody_has_it)
{
    const struct row_field *fields;
    size_t n;

    fields = row_fields(&n);
    for (size_t i = 0; i < n; i++) {
        unsigned use = fields[i].use;

        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(fields[i].name, fields[k].name);
        if (!(use & (ROW_ANY | FIGURE_ANY)))
            fail_msg("nobody has %s", fields[i].name);
        if ((use & (IN_CSV | IN_KEY) && !(use & ROW_ANY)) ||
            (use & (IN_FIGURE_CSV | IN_FIGURE_KEY) && !(use & FIGURE_ANY)))
            fail_msg("%s shows where nobody has it", fields[i].name);
    }
}

/* The page's lines are told apart by them, too: tests/web/unit/vectors.test.mjs. */
TEST(the_vectors_have_what_sets_series_apart)
{
    json_t *document = vectors_load("row_keys.json"), *keys = json_array();
    const struct row_field *fields;
    size_t n;

    fields = row_fields(&n);
    for (size_t i = 0; i < n; i++)
        if (fields[i].use & IN_KEY)
            json_array_append_new(keys, json_string(fields[i].name));
    if (!json_equal(keys, vectors_list(document, "keys")))
        fail_msg("tests/vectors/row_keys.json should have %s", json_dumps(keys, 0));
    json_decref(keys);
    json_decref(document);
}

static const char *rows_with(unsigned use)
{
    return use & ROW_EACH    ? "each"
           : use & ROW_TIMED ? "measured"
           : use & ROW_SOME  ? "some"
                             : "";
}

static void put_fields(struct buf *out)
{
    const struct row_field *fields;
    size_t n;

    fields = row_fields(&n);
    buf_append_str(out, "| column | type | unit | rows | figures | meaning |\n"
                        "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++) {
        unsigned use = fields[i].use;

        buf_printf(out, "| `%s` | %s | %s | %s | %s | %s |\n", fields[i].name,
                   types[fields[i].type], fields[i].unit, rows_with(use),
                   use & FIGURE_EACH   ? "each"
                   : use & FIGURE_SOME ? "some"
                                       : "",
                   fields[i].meaning);
    }
}

TEST(the_docs_show_each_field)
{
    golden_compare_part("reference/columns.md", "<!-- columns -->\n",
                        "<!-- end of columns -->", put_fields);
}
