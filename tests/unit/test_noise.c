/* SPDX-License-Identifier: Apache-2.0 */
/* test_noise.c - what a run says of how certain its rows are */
#include "test.h"

#include "common/base/json_util.h"
#include "common/result/headline.h"
#include "server/render/compare_text.h"
#include "server/summary/result_record.h"

static struct certainty certainty_of(const char *row)
{
    json_t *body = json_loads(row, 0, NULL);
    struct certainty certainty = result_certainty(body);

    json_decref(body);
    return certainty;
}

TEST(rows_are_counted_by_half_their_interval)
{
    static const struct {
        const char *row;
        bool is_judged, is_uncertain;
    } samples[] = {
        {"{\"time_us\":100,\"time_low_us\":95,\"time_high_us\":114}", true, false},
        {"{\"time_us\":100,\"time_low_us\":95,\"time_high_us\":116}", true, true},
        {"{\"time_us\":100,\"time_low_us\":99,\"time_high_us\":101,\"noisy\":true}", true,
         false},
        {"{\"time_us\":100,\"noisy\":true}", true, true},
        {"{\"time_us\":100}", false, false},
    };

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        struct certainty certainty = certainty_of(samples[i].row);
        struct noise noise = {0};

        noise_add(&noise, &certainty, 0.1);
        assert_int_equal(noise.rows, samples[i].is_judged);
        assert_int_equal(noise.uncertain, samples[i].is_uncertain);
    }
}

TEST(what_is_said_has_the_limit_and_the_counts)
{
    struct noise noise = {.rows = 54, .uncertain = 12};
    json_t *json = noise_json(&noise, 0, 0.1);

    assert_int_equal(json_get_int(json, "uncertain", -1), 12);
    assert_string_equal(json_get_str(json, "sentence", ""),
                        "12 of 54 rows are less certain than 10 %");
    json_decref(json);
    noise = (struct noise){0};
    json = noise_json(&noise, 0, 0.1);
    assert_true(json_is_null(json));
    json_decref(json);
}

/* A single row of many is not worth a sentence unless the headline rests on it. */
TEST(a_run_speaks_of_many_rows_or_of_its_headline)
{
    static const struct {
        struct noise noise;
        double half;
        bool is_said;
    } samples[] = {
        {{54, 0}, 0.5, false}, {{54, 1}, 0.02, false},    {{54, 5}, 0.02, false},
        {{54, 6}, 0.02, true}, {{54, 1}, 0.1, false},     {{54, 1}, 0.11, true},
        {{3, 1}, 0.02, true},  {{54, 1}, HUGE_VAL, true},
    };

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        json_t *json = noise_json(&samples[i].noise, samples[i].half, 0.1);

        if (noise_is_said(&samples[i].noise, samples[i].half, 0.1) !=
                samples[i].is_said ||
            (json_object_get(json, "sentence") != NULL) != samples[i].is_said)
            fail_msg("sample %zu", i);
        json_decref(json);
    }
}

static void add(struct headline *headline, int64_t size, double busbw_gbs,
                const char *row)
{
    struct certainty certainty = certainty_of(row);
    json_t *about = json_pack("{s:i, s:s}", "series", 0, "collective", "all_reduce");

    headline_add(headline, about, size, busbw_gbs, &certainty);
    json_decref(about);
}

static void interval_is(const struct headline *headline, const char *text, double low,
                        double high)
{
    json_t *json = headline_json(headline), *interval = json_object_get(json, "interval");
    char words[HEADLINE_TEXT_MAX];

    assert_string_equal(headline_interval(headline, words), text);
    if (low > 0) {
        assert_near(json_number_value(json_array_get(interval, 0)), low, 1e-9);
        assert_near(json_number_value(json_array_get(interval, 1)), high, 1e-9);
    } else {
        assert_true(json_is_null(interval));
    }
    json_decref(json);
}

TEST(the_headline_has_the_interval_of_its_rows)
{
    struct headline headline = {0};

    add(&headline, 8, 1, "{\"time_us\":100,\"noisy\":true}");
    interval_is(&headline, "unknown", 0, 0);
    /* A larger size counts alone. */
    add(&headline, 1024, 40, "{\"time_us\":100,\"time_low_us\":80,\"time_high_us\":125}");
    interval_is(&headline, "32.0 to 50.0", 32, 50);
    assert_near(headline_half(&headline), 9.0 / 40, 1e-9);
    add(&headline, 1024, 44, "{\"time_us\":100,\"time_low_us\":80,\"time_high_us\":110}");
    interval_is(&headline, "32.0 to 55.0", 32, 55);
    add(&headline, 1024, 20, "{\"time_us\":100,\"time_low_us\":80,\"time_high_us\":500}");
    interval_is(&headline, "unknown", 0, 0);
    headline_release(&headline);
    headline = (struct headline){0};
    add(&headline, 8, 1, "{\"time_us\":100}");
    json_t *json = headline_json(&headline);
    assert_null(json_object_get(json, "interval"));
    json_decref(json);
    headline_release(&headline);
}

/* From half to 2.5 times as much, and to 8 times. */
TEST(a_comparison_does_not_know_what_is_beyond_a_factor_of_ten)
{
    static const struct {
        double high;
        const char *text;
    } samples[] = {{1.5, "-50 to +150"}, {7, "unknown"}};

    for (size_t i = 0; i < 2; i++) {
        json_t *document = json_pack(
            "{s:{s:s, s:{s:[], s:[], s:[{s:s, s:f, s:[f, f]}]}}, s:{s:[], s:[]},"
            " s:{s:[], s:[]}, s:[]}",
            "verdict", "sentence", "x", "evidence", "warnings", "differences", "bands",
            "series", "s", "change", 1.0, "interval", -0.5, samples[i].high, "base",
            "runs", "cases", "head", "runs", "cases", "sizes");
        struct buf out;

        buf_init(&out, 10000);
        assert_int_equal(compare_write(document, FORM_TEXT, &out), 0);
        if (!strstr(out.data, samples[i].text))
            fail_msg("%s", out.data);
        buf_release(&out);
        json_decref(document);
    }
}
