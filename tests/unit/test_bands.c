/* SPDX-License-Identifier: Apache-2.0 */
/* test_bands.c - in which band a size is judged */
#include "common/spec/bands.h"
#include "tests/unit/test.h"

TEST(a_size_is_in_one_band)
{
    static const struct {
        int64_t size;
        enum band band;
    } sizes[] = {
        {0, BAND_LATENCY},         {8, BAND_LATENCY},           {16384, BAND_LATENCY},
        {16385, BAND_MIDDLE},      {1 << 20, BAND_MIDDLE},      {4000000, BAND_MIDDLE},
        {4 << 20, BAND_BANDWIDTH}, {INT64_MAX, BAND_BANDWIDTH},
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        assert_int_equal(band_of(sizes[i].size), sizes[i].band);
}

/* all_gather of 4 MiB float32 divides it among 3, 5, 6 or 7 ranks in whole 16 bytes. */
TEST(what_division_took_moves_no_size_to_another_band)
{
    for (int64_t ranks = 1; ranks <= 1024; ranks++)
        assert_int_equal(band_of((4 << 20) / ranks / 16 * 16 * ranks), BAND_BANDWIDTH);
    assert_int_equal(band_of(2 << 20), BAND_MIDDLE);
}

TEST(small_sizes_are_judged_by_time_and_large_ones_by_bandwidth)
{
    assert_int_equal(band_figure(BAND_LATENCY), BAND_TIME);
    assert_int_equal(band_figure(BAND_MIDDLE), BAND_TIME);
    assert_int_equal(band_figure(BAND_BANDWIDTH), BAND_BUSBW);
    assert_false(band_higher_is_better(BAND_MIDDLE));
    assert_true(band_higher_is_better(BAND_BANDWIDTH));
    assert_string_equal(band_figure_name(BAND_TIME), "time_us");
    assert_string_equal(band_figure_name(BAND_BUSBW), "busbw_gbs");
    for (int band = 0; band < BANDS; band++) {
        assert_int_equal(band_lookup(band_names[band]), band);
        assert_true(strlen(band_where((enum band)band)) > 0);
    }
    assert_int_equal(band_lookup("large"), -1);
}
