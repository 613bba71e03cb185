/* SPDX-License-Identifier: Apache-2.0 */
/* test_negotiate.c - Accept and Accept-Encoding, as a table */
#include "server/http/negotiate.h"
#include "tests/unit/test.h"

/* 0 json, 1 text, 2 event stream */
static const char *const types[] = {"application/json", "text/plain", "text/event-stream",
                                    NULL};

TEST(chooses_a_type)
{
    static const struct {
        const char *header;
        int choice;
    } cases[] = {
        {NULL, 0},
        {"", 0},
        {"*/*", 0},
        {"text/plain", 1},
        {"TEXT/Plain", 1},
        {"text/*", 1},
        {"text/event-stream", 2},
        {"text/html", -1},
        {"text/html, */*;q=0.1", 0},
        {"text/plain, */*", 1},
        {"*/*, text/plain", 1},
        {"text/plain;q=0.5, application/json;q=0.4", 1},
        {"text/plain;q=0.5, application/json;q=0.501", 0},
        {"application/json;q=0, */*", 1},
        {"application/json;q=0, text/*;q=0", -1},
        {"text/*, text/plain;q=0.1", 2},
        {"text/plain; charset=utf-8; q=0.2, application/json;q=0.1", 1},
        {"text/plain;x=\"a,b;q=0\", application/json;q=0.5", 1},
        {" text/plain ; q=0.9 , application/json ; q=1.0 ", 0},
        {"text/plain;Q=0.1,application/json;q=0.2", 0},
        {"*/*;q=0", -1},
        {"text/plain;q=2, application/json", 0},
        {"text/plain;q=abc", 0},
        {",,text/plain,,", 1},
        {"text/plain;q=1.001, text/event-stream;q=0.001", 2},
        {"application/*", 0},
        {"application/jsonx", -1},
        {"\"", -1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int choice = negotiate_accept(cases[i].header, types);

        if (choice != cases[i].choice)
            fail_msg("%s: chose %d, expected %d", cases[i].header, choice,
                     cases[i].choice);
    }
}

TEST(knows_encodings)
{
    assert_false(negotiate_encoding(NULL, "gzip"));
    assert_false(negotiate_encoding("", "gzip"));
    assert_true(negotiate_encoding("gzip, deflate, br", "gzip"));
    assert_true(negotiate_encoding("br;q=1.0, GZIP;q=0.8", "gzip"));
    assert_false(negotiate_encoding("gzip;q=0", "gzip"));
    assert_false(negotiate_encoding("*, gzip;q=0", "gzip"));
    assert_true(negotiate_encoding("*", "gzip"));
    assert_false(negotiate_encoding("*;q=0", "gzip"));
    assert_false(negotiate_encoding("xgzip", "gzip"));
}
