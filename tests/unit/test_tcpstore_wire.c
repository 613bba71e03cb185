/* SPDX-License-Identifier: Apache-2.0 */
/* test_tcpstore_wire.c - requests are the same however the stream is cut */
#include "server/rendezvous/tcpstore_wire.h"
#include "tests/unit/mentions.h"
#include "tests/unit/tcpstore_requests.h"
#include "tests/unit/test.h"

/* A transcript of requests that two ways of feeding can be compared by. */
static void describe(struct buf *out, const struct tcpstore_request *request)
{
    struct tcpstore_slice list = request->list, key, value;

    buf_printf(
        out, "%d key=%.*s value=%zu:%.*s", (int)request->query, (int)request->key.len,
        request->key.data ? (const char *)request->key.data : "", request->value.len,
        (int)(request->value.len < 10 ? request->value.len : 10),
        request->value.len ? (const char *)request->value.data : "");
    buf_printf(out, " desired=%zu number=%lld n=%llu", request->desired.len,
               (long long)request->number, (unsigned long long)request->count);
    for (uint64_t i = 0; i < request->count; i++) {
        bool has_value = request->query == TCPSTORE_MULTI_SET;
        tcpstore_list_next(&list, &key, has_value ? &value : NULL);
        buf_printf(out, " %.*s", (int)key.len, (const char *)key.data);
        if (has_value)
            buf_printf(out, "=%.*s", (int)value.len, (const char *)value.data);
    }
    buf_append_str(out, "\n");
}

/* Feed pieces of at most `piece` bytes (0: of random lengths). The bytes that are not
 * taken yet are each time in memory of their own. */
static enum tcpstore_parse feed(struct tcpstore_parser *parser, const struct buf *stream,
                                size_t piece, struct buf *transcript)
{
    enum tcpstore_parse result = TCPSTORE_MORE;
    struct tcpstore_request request;
    size_t taken = 0, at = 0;

    while (at < stream->len && result != TCPSTORE_BAD) {
        size_t len = piece ? piece : 1 + (size_t)rand() % 40;
        unsigned char *copy;
        struct tcpstore_slice input;
        at = len < stream->len - at ? at + len : stream->len;
        copy = malloc(at - taken);
        memcpy(copy, stream->data + taken, at - taken);
        input = (struct tcpstore_slice){copy, at - taken};
        do {
            result = tcpstore_parse(parser, &input, &request);
            if (result == TCPSTORE_REQUEST)
                describe(transcript, &request);
        } while (result == TCPSTORE_REQUEST);
        taken = at - input.len;
        free(copy);
    }
    return result;
}

static char *transcribe(const struct buf *stream, size_t piece,
                        enum tcpstore_parse *result)
{
    struct tcpstore_parser parser;
    struct buf transcript;

    buf_init(&transcript, REQUEST_MAX);
    tcpstore_parser_init(&parser);
    *result = feed(&parser, stream, piece, &transcript);
    return buf_detach(&transcript, NULL);
}

/* Every query of version 2, with empty and larger parts. */
static void put_all_v2(struct buf *out)
{
    put_hello(out);
    put_request(out, 13, "u", 0xDEADBEEFu);
    put_request(out, 1, "ss", "/key", "value");
    put_request(out, 1, "ss", "", "");
    put_request(out, 2, "sss", "/k", "expected", "desired");
    put_request(out, 2, "sss", "/k", "", "");
    put_request(out, 3, "s", "/k");
    put_request(out, 4, "sq", "/n", N(-5));
    put_request(out, 5, "qss", N(2), "/a", "/b");
    put_request(out, 5, "q", N(0));
    put_request(out, 6, "qsss", N(3), "/a", "", "/c");
    put_request(out, 7, "");
    put_request(out, 8, "s", "/k");
    put_request(out, 9, "sz", "/k", (uint64_t)10000);
    put_request(out, 10, "qs", N(1), "/a");
    put_request(out, 11, "qssss", N(2), "/a", "1", "/b", "");
    put_request(out, 11, "q", N(0));
    put_request(out, 12, "");
    put_request(out, 14, "ss", "/q", "item");
    put_request(out, 15, "s", "/q");
    put_request(out, 16, "s", "/q");
    put_request(out, 17, "");
    put_request(out, 18, "sq", "/b", N(4));
    put_request(out, 7, "");
}

static void put_all_v1(struct buf *out)
{
    put_request(out, 0, "ss", "/key", "value");
    put_request(out, 1, "sss", "/k", "expected", "desired");
    put_request(out, 2, "s", "/k");
    put_request(out, 3, "sq", "init/", N(1));
    put_request(out, 4, "qss", N(2), "/a", "/b");
    put_request(out, 5, "qs", N(1), "/a");
    put_request(out, 6, "");
    put_request(out, 7, "s", "/w");
    put_request(out, 8, "s", "/k");
}

static void pieces_give_the_same_as_the_whole(void (*put)(struct buf *), const char *part)
{
    enum tcpstore_parse whole_result, result;
    struct buf stream;
    char *whole;

    buf_init(&stream, REQUEST_MAX);
    put(&stream);
    whole = transcribe(&stream, stream.len, &whole_result);
    assert_int_equal(whole_result, TCPSTORE_MORE);
    assert_non_null(strstr(whole, part));
    for (size_t piece = 0; piece < 60; piece++) {
        char *pieces = transcribe(&stream, piece, &result);
        assert_string_equal(pieces, whole);
        assert_int_equal(result, TCPSTORE_MORE);
        free(pieces);
    }
    free(whole);
    buf_release(&stream);
}

TEST(v2_is_the_same_in_any_pieces)
{
    srand(1);
    pieces_give_the_same_as_the_whole(
        put_all_v2, "\n11 key= value=0: desired=0 number=0 n=2 /a=1 /b=\n");
}

TEST(v1_is_the_same_in_any_pieces)
{
    srand(2);
    pieces_give_the_same_as_the_whole(put_all_v1,
                                      "\n4 key=init/ value=0: desired=0 number=1 n=0\n");
}

/* A SET of version 1 and a VALIDATE begin alike. */
TEST(versions_are_told_apart)
{
    static const struct {
        const char *bytes;
        size_t len;
        enum tcpstore_version version;
        enum tcpstore_parse result;
    } cases[] = {
        {"\0\xce\xf7\x85\x3c", 5, TCPSTORE_V2, TCPSTORE_REQUEST},
        {"\0\xce\xf7\x85", 4, TCPSTORE_UNKNOWN, TCPSTORE_MORE},
        {"\0", 1, TCPSTORE_UNKNOWN, TCPSTORE_MORE},
        {"\0\x04\0\0\0", 5, TCPSTORE_V1, TCPSTORE_MORE},
        {"\0\0\x20\0\0", 5, TCPSTORE_V1, TCPSTORE_MORE},
        {"\0\x01\x20\0\0", 5, TCPSTORE_UNKNOWN, TCPSTORE_BAD},
        {"\0\xce\xf7\x85\x3d", 5, TCPSTORE_UNKNOWN, TCPSTORE_BAD},
        {"\0\0\0\0\0\0\0\0\x01", 9, TCPSTORE_V1, TCPSTORE_BAD},
        {"\x06", 1, TCPSTORE_V1, TCPSTORE_REQUEST},
        {"\x09", 1, TCPSTORE_V1, TCPSTORE_BAD},
        {"GET / HTTP/1.1\r\n", 16, TCPSTORE_V1, TCPSTORE_BAD},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tcpstore_slice input = {(const unsigned char *)cases[i].bytes,
                                       cases[i].len};
        struct tcpstore_request request;
        struct tcpstore_parser parser;
        tcpstore_parser_init(&parser);
        assert_int_equal(tcpstore_parse(&parser, &input, &request), cases[i].result);
        assert_int_equal(parser.version, cases[i].version);
    }
}

/* Over a limit is bad at the moment that the length is there, not when the bytes are. */
TEST(lengths_over_the_limits_are_refused_at_once)
{
    static const struct {
        int type;
        const char *format;
        int64_t at_limit;
        enum tcpstore_refusal fault;
    } cases[] = {
        {3, "q", 8192, TCPSTORE_KEY_LENGTH},
        {5, "q", 131072, TCPSTORE_LIST_LENGTH},
        {6, "q", 131072, TCPSTORE_LIST_LENGTH},
        {10, "q", 131072, TCPSTORE_LIST_LENGTH},
        {11, "q", 131072, TCPSTORE_LIST_LENGTH},
        {1, "sq", 8388608, TCPSTORE_VALUE_LENGTH},
        {9, "sq", 8388608, TCPSTORE_VALUE_LENGTH},
        {14, "sq", 8388608, TCPSTORE_VALUE_LENGTH},
    };
    enum tcpstore_parse result;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int over = 0; over < 3; over++) {
            int64_t length = over == 2 ? -1 : cases[i].at_limit + over;
            struct tcpstore_parser parser;
            struct buf stream, transcript;
            buf_init(&stream, REQUEST_MAX);
            buf_init(&transcript, REQUEST_MAX);
            put_hello(&stream);
            if (cases[i].format[0] == 's')
                put_request(&stream, cases[i].type, "sq", "/k", length);
            else
                put_request(&stream, cases[i].type, "q", length);
            tcpstore_parser_init(&parser);
            result = feed(&parser, &stream, 3, &transcript);
            assert_int_equal(result, over ? TCPSTORE_BAD : TCPSTORE_MORE);
            if (over)
                assert_int_equal(parser.fault, cases[i].fault);
            buf_release(&transcript);
            buf_release(&stream);
        }
}

TEST(bad_queries_are_refused)
{
    static const int types[] = {0, 19, 20, 255};
    enum tcpstore_parse result;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct buf stream;
        buf_init(&stream, 1000);
        put_hello(&stream);
        put_request(&stream, types[i], "u", 0x3C85F7CEu);
        free(transcribe(&stream, 1, &result));
        assert_int_equal(result, TCPSTORE_BAD);
        buf_release(&stream);
    }
}

TEST(replies_are_little_endian)
{
    static const unsigned char expected[] = {
        1,    0xef, 0xbe, 0xad, 0xde, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 2,    0,    0,    0,    0,    0,    0,    0,    'h',  'i'};
    struct buf out;

    buf_init(&out, sizeof(expected));
    tcpstore_put_u8(&out, 1);
    tcpstore_put_u32(&out, 0xdeadbeef);
    tcpstore_put_i64(&out, -2);
    tcpstore_put_blob(&out, "hi", 2);
    assert_int_equal(out.len, sizeof(expected));
    assert_memory_equal(out.data, expected, sizeof(expected));
    assert_int_equal(tcpstore_put_u8(&out, 1), -1);
    buf_release(&out);
}
