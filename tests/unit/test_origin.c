/* SPDX-License-Identifier: Apache-2.0 */
/* test_origin.c - which pages may talk to a server without tokens */
#include "server/http/origin.h"
#include "tests/unit/test.h"

TEST(compares_origin_with_host)
{
    assert_true(origin_matches_host("http://localhost:8080", "localhost:8080"));
    assert_true(origin_matches_host("https://Head", "head"));
    assert_false(origin_matches_host("http://localhost:8081", "localhost:8080"));
    assert_false(origin_matches_host("http://localhost", "localhost:8080"));
    assert_false(origin_matches_host("http://localhost:8080.evil", "localhost:8080"));
    assert_false(origin_matches_host("null", "localhost:8080"));
    assert_false(origin_matches_host("", ""));
    assert_false(origin_matches_host("http://localhost:8080", NULL));
}

TEST(knows_local_hosts)
{
    static const char *const local[] = {"localhost", "localhost:8080", "LOCALHOST",
                                        "127.0.0.1", "127.0.0.1:80",   "[::1]:8080",
                                        "[::1]",     "10.1.2.3:8080",  "ui.localhost:1",
                                        "head",      "HEAD.example:1"};
    static const char *const foreign[] = {"evil.example",
                                          "evil.example:8080",
                                          "localhost.evil.example",
                                          "127.0.0.1.evil.example",
                                          "",
                                          ":8080",
                                          "[]",
                                          ".localhost",
                                          "xlocalhost",
                                          "hea",
                                          "head.evil.example",
                                          "head,head.example"};

    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
        if (!origin_host_is_known(local[i], "head,head.example"))
            fail_msg("%s is local", local[i]);
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (origin_host_is_known(foreign[i], "head,head.example"))
            fail_msg("%s is not local", foreign[i]);
}
