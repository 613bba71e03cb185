/* test_units.c - sizes as people write them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/units.h"

static const struct {
    const char *text;
    uint64_t bytes;
} good[] = {
    {"0", 0},
    {"8", 8},
    {"8B", 8},
    {"64K", 65536},
    {"64k", 65536},
    {"64KB", 65536},
    {"64KiB", 65536},
    {"64 KiB", 65536},
    {"1.5M", 1572864},
    {"0.5K", 512},
    {"128MiB", UINT64_C(128) << 20},
    {"1G", UINT64_C(1) << 30},
    {"1T", UINT64_C(1) << 40},
    {"8388607T", UINT64_C(8388607) << 40},
    {"9223372036854775807", UINT64_C(9223372036854775807)},
};

static const struct {
    const char *text;
    enum error_code code;
    const char *says;
} bad[] = {
    {"", ERROR_INVALID, "is not a size"},
    {"K", ERROR_INVALID, "is not a size"},
    {"-1", ERROR_INVALID, "is not a size"},
    {"+1", ERROR_INVALID, "is not a size"},
    {" 1", ERROR_INVALID, "is not a size"},
    {"1x", ERROR_INVALID, "write bytes as 8, 64K, 1.5M or 1G"},
    {"1P", ERROR_INVALID, "is not a size"},
    {"1KK", ERROR_INVALID, "is not a size"},
    {"1.M", ERROR_INVALID, "is not a size"},
    {"1.", ERROR_INVALID, "is not a size"},
    {".5K", ERROR_INVALID, "is not a size"},
    {"1e6", ERROR_INVALID, "is not a size"},
    {"0x10", ERROR_INVALID, "is not a size"},
    {"1.5", ERROR_INVALID, "is not a whole number of bytes"},
    {"1.3K", ERROR_INVALID, "is not a whole number of bytes"},
    {"1.123456789K", ERROR_INVALID, "is not a size"},
    {"8388608T", ERROR_LIMIT, "is more than 8 EiB"},
    {"9223372036854775808", ERROR_LIMIT, "is more than 8 EiB"},
    {"99999999999999999999999999", ERROR_LIMIT, "is more than 8 EiB"},
};

static void reads_each_spelling(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint64_t bytes = 1;
        struct error err = {0};

        if (units_parse_size(good[i].text, &bytes, &err))
            fail_msg("%s: %s", good[i].text, err.text);
        if (bytes != good[i].bytes)
            fail_msg("%s: %llu", good[i].text, (unsigned long long)bytes);
    }
}

static void refuses_each_mistake_and_says_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t bytes = 77;
        struct error err = {0};

        if (units_parse_size(bad[i].text, &bytes, &err) == 0)
            fail_msg("'%s' was read as %llu", bad[i].text, (unsigned long long)bytes);
        assert_int_equal(err.code, bad[i].code);
        if (!strstr(err.text, bad[i].says))
            fail_msg("'%s': %s", bad[i].text, err.text);
        assert_int_equal(bytes, 77);
    }
}

static void formats_exactly(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0"},
        {8, "8"},
        {1023, "1023"},
        {1024, "1K"},
        {1536, "1536"},
        {65536, "64K"},
        {1572864, "1536K"},
        {UINT64_C(1) << 30, "1G"},
        {UINT64_C(1) << 40, "1T"},
        {UINT64_C(1) << 50, "1024T"},
        {UINT64_MAX, "18446744073709551615"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[UNITS_TEXT_MAX];
        uint64_t back;

        assert_string_equal(units_format_size(cases[i].bytes, text), cases[i].text);
        if (cases[i].bytes < UINT64_MAX) {
            assert_int_equal(units_parse_size(text, &back, NULL), 0);
            assert_true(back == cases[i].bytes);
        }
    }
}

static void formats_for_prose(void **state)
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

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[UNITS_TEXT_MAX];

        assert_string_equal(units_format_human(cases[i].bytes, text), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_spelling),
        cmocka_unit_test(refuses_each_mistake_and_says_why),
        cmocka_unit_test(formats_exactly),
        cmocka_unit_test(formats_for_prose),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
