/* SPDX-License-Identifier: Apache-2.0 */
/* test_units.c - sizes as people write them */
#include "common/base/units.h"
#include "tests/unit/test.h"
#include "tests/unit/vectors.h"

static const struct {
    const char *text;
    enum error_code code;
} bad[] = {
    {"", ERROR_INVALID},
    {"K", ERROR_INVALID},
    {"-1", ERROR_INVALID},
    {"+1", ERROR_INVALID},
    {" 1", ERROR_INVALID},
    {"1x", ERROR_INVALID},
    {"1P", ERROR_INVALID},
    {"1KK", ERROR_INVALID},
    {"1.M", ERROR_INVALID},
    {"1.", ERROR_INVALID},
    {".5K", ERROR_INVALID},
    {"1e6", ERROR_INVALID},
    {"0x10", ERROR_INVALID},
    {"1.5", ERROR_INVALID},
    {"1.3K", ERROR_INVALID},
    {"1.123456789K", ERROR_INVALID},
    {"8388608T", ERROR_LIMIT},
    {"9223372036854775808", ERROR_LIMIT},
    {"99999999999999999999999999", ERROR_LIMIT},
};

TEST(reads_each_spelling)
{
    json_t *document = vectors_load("sizes.json"), *item;
    uint64_t bytes = 1;
    size_t i;

    json_array_foreach (vectors_list(document, "read"), i, item) {
        const char *text = json_string_value(json_array_get(item, 0));
        struct error err = {0};

        if (units_parse_size(text, &bytes, &err))
            fail_msg("%s: %s", text, err.text);
        if (bytes != (uint64_t)json_integer_value(json_array_get(item, 1)))
            fail_msg("%s: %llu", text, (unsigned long long)bytes);
    }
    json_array_foreach (vectors_list(document, "refused"), i, item)
        if (units_parse_size(json_string_value(item), &bytes, NULL) == 0)
            fail_msg("%s was read", json_string_value(item));
    assert_int_equal(units_parse_size("9223372036854775807", &bytes, NULL), 0);
    assert_true(bytes == INT64_MAX);
    json_decref(document);
}

TEST(refuses_each_mistake_and_quotes_it)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t bytes = 77;
        struct error err = {0};

        if (units_parse_size(bad[i].text, &bytes, &err) == 0)
            fail_msg("'%s' was read as %llu", bad[i].text, (unsigned long long)bytes);
        assert_int_equal(err.code, bad[i].code);
        assert_non_null(strstr(err.text, bad[i].text));
        assert_int_equal(bytes, 77);
    }
}

TEST(a_refusal_says_what_would_be_right)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"1x", "'1x' is not a size; write sizes as 8, 64K, 1.5M or 1G"},
        {"1.3K", "'1.3K' is not a whole number of bytes"},
        {"8388608T", "'8388608T' is more than 8 EiB"},
    };
    uint64_t bytes;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = {0};

        assert_int_equal(units_parse_size(cases[i].text, &bytes, &err), -1);
        assert_string_equal(err.text, cases[i].says);
    }
}

TEST(formats_exactly)
{
    json_t *document = vectors_load("sizes.json"), *item;
    char text[UNITS_TEXT_MAX];
    uint64_t back;
    size_t i;

    json_array_foreach (vectors_list(document, "written"), i, item) {
        uint64_t bytes = (uint64_t)json_integer_value(json_array_get(item, 0));

        assert_string_equal(units_format_size(bytes, text),
                            json_string_value(json_array_get(item, 1)));
        assert_int_equal(units_parse_size(text, &back, NULL), 0);
        assert_true(back == bytes);
    }
    assert_string_equal(units_format_size(UINT64_MAX, text), "18446744073709551615");
    json_decref(document);
}

TEST(formats_for_prose)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {64 << 10, "64 KiB"},
        {(1 << 20) - 1, "1.0 MiB"},
        {UINT64_C(1536) << 20, "1.5 GiB"},
        {UINT64_C(5) << 40, "5.0 TiB"},
        {UINT64_MAX, "16777216 TiB"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[UNITS_TEXT_MAX];

        assert_string_equal(units_format_human(cases[i].bytes, text), cases[i].text);
    }
}
