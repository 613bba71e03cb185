/* SPDX-License-Identifier: Apache-2.0 */
/* test_numeric.c - the small floating point formats, against their definitions */
#include "agent/worker/data/numeric.h"
#include "tests/unit/test.h"

struct format {
    const char *name;
    int bits, man, bias;
    int has_infinity, top_is_nan_only; /* IEEE; or e4m3: one NaN, no infinity */
    double largest;
    float (*decode)(unsigned code);
    unsigned (*encode)(float value);
};

static float decode16(unsigned code)
{
    return float16_decode((uint16_t)code);
}

static unsigned encode16(float value)
{
    return float16_encode(value);
}

static float decode_b16(unsigned code)
{
    return bfloat16_decode((uint16_t)code);
}

static unsigned encode_b16(float value)
{
    return bfloat16_encode(value);
}

static float decode_e4m3(unsigned code)
{
    return float8e4m3_decode((uint8_t)code);
}

static unsigned encode_e4m3(float value)
{
    return float8e4m3_encode(value);
}

static float decode_e5m2(unsigned code)
{
    return float8e5m2_decode((uint8_t)code);
}

static unsigned encode_e5m2(float value)
{
    return float8e5m2_encode(value);
}

static const struct format formats[] = {
    {"float16", 16, 10, 15, 1, 0, 65504, decode16, encode16},
    {"bfloat16", 16, 7, 127, 1, 0, 0x1.fep127, decode_b16, encode_b16},
    {"float8e4m3", 8, 3, 7, 0, 1, 448, decode_e4m3, encode_e4m3},
    {"float8e5m2", 8, 2, 15, 1, 0, 57344, decode_e5m2, encode_e5m2},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* The value by the book: sign, exponent, mantissa. */
static double value_of(const struct format *format, unsigned code)
{
    unsigned sign = code >> (format->bits - 1);
    unsigned man = code & ((1u << format->man) - 1);
    unsigned exp = (code & ((1u << (format->bits - 1)) - 1)) >> format->man;
    unsigned top = (1u << (format->bits - 1 - format->man)) - 1;
    double value;

    if (exp == top && format->has_infinity)
        value = man ? (double)NAN : (double)INFINITY;
    else if (exp == top && man == (1u << format->man) - 1)
        value = (double)NAN;
    else if (exp == 0)
        value = ldexp(man, 1 - format->bias - format->man);
    else
        value = ldexp(man + (1u << format->man), (int)exp - format->bias - format->man);
    return sign ? -value : value;
}

TEST(every_code_decodes_to_its_value)
{
    for (size_t f = 0; f < FORMATS; f++) {
        for (unsigned code = 0; code < 1u << formats[f].bits; code++) {
            double expected = value_of(&formats[f], code);
            double got = (double)formats[f].decode(code);
            if (isnan(expected))
                assert_true(isnan(got));
            else
                assert_true(got == expected && !signbit(got) == !signbit(expected));
        }
    }
}

TEST(every_number_survives_the_round_trip)
{
    for (size_t f = 0; f < FORMATS; f++) {
        for (unsigned code = 0; code < 1u << formats[f].bits; code++) {
            double value = value_of(&formats[f], code);
            if (!isnan(value) && (!isinf(value) || formats[f].bits == 16))
                assert_int_equal(formats[f].encode((float)value), code);
        }
    }
}

/* Between two neighbours: the nearer one, and the even one from the middle. */
TEST(encoding_rounds_to_nearest_even)
{
    for (size_t f = 0; f < FORMATS; f++) {
        const struct format *format = &formats[f];
        for (unsigned code = 0;; code++) {
            double low = value_of(format, code), high = value_of(format, code + 1);
            if (!(high <= format->largest))
                break;
            float middle = (float)((low + high) / 2);
            unsigned even = code & 1 ? code + 1 : code;
            assert_int_equal(format->encode(middle), even);
            assert_int_equal(format->encode(nextafterf(middle, 0)), code);
            assert_int_equal(format->encode(nextafterf(middle, INFINITY)), code + 1);
        }
    }
}

TEST(too_large_numbers_overflow_as_documented)
{
    assert_int_equal(float16_encode(65519.996F), 0x7bff);
    assert_int_equal(float16_encode(65520.0F), 0x7c00);
    assert_int_equal(float16_encode(-INFINITY), 0xfc00);
    assert_int_equal(bfloat16_encode(INFINITY), 0x7f80);
    assert_int_equal(bfloat16_encode(3.4e38F), 0x7f80);
    assert_int_equal(float8e4m3_encode(1e9F), 0x7e);
    assert_int_equal(float8e4m3_encode(-INFINITY), 0xfe);
    assert_int_equal(float8e5m2_encode(1e9F), 0x7b);
    assert_int_equal(float8e5m2_encode(INFINITY), 0x7b);
}

TEST(nan_stays_nan)
{
    for (size_t f = 0; f < FORMATS; f++) {
        assert_true(isnan(value_of(&formats[f], formats[f].encode(NAN))));
        assert_true(isnan(value_of(&formats[f], formats[f].encode(-NAN))));
    }
}
