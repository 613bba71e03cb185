/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_fake.h - a client of the store's keys that has no socket */
#ifndef RINGBENCH_TESTS_UNIT_TCPSTORE_FAKE_H
#define RINGBENCH_TESTS_UNIT_TCPSTORE_FAKE_H

#include "server/rendezvous/tcpstore_kv.h"
#include "tests/unit/tcpstore_requests.h"
#include "tests/unit/test.h"

/* The types of requests, from the protocol. */
enum {
    SET = 1,
    CAS,
    GET,
    ADD,
    CHECK,
    WAIT,
    NUMKEYS,
    DELETE,
    APPEND,
    MULTI_GET,
    MULTI_SET,
    CANCEL,
    PING,
    PUSH,
    POP,
    LEN,
    LIST,
    BARRIER
};

/* `client` comes first: on_wake gets no more than that. */
struct fake {
    struct tcpstore_client client;
    struct tcpstore_out out;
};

static inline void fake_on_wake(struct tcpstore_client *client)
{
    struct fake *fake = (struct fake *)client;

    assert_int_equal(tcpstore_put_u8(&fake->out.bytes, TCPSTORE_STOP_WAITING), 0);
}

/* Execute the one request in bytes, which are released; returns as tcpstore_kv_execute.
 */
static inline int fake_execute(struct fake *fake, struct buf *bytes,
                               enum tcpstore_refusal *why)
{
    struct tcpstore_slice input = {(const unsigned char *)bytes->data, bytes->len};
    struct tcpstore_request request;
    struct tcpstore_parser parser;
    int rc;

    tcpstore_parser_init(&parser);
    parser.version = TCPSTORE_V2;
    assert_int_equal(tcpstore_parse(&parser, &input, &request), TCPSTORE_REQUEST);
    rc = tcpstore_kv_execute(&fake->client, &request, &fake->out, why);
    buf_release(bytes);
    return rc;
}

/* Move what the client has got to `got`, at most so many bytes at a time. */
static inline void fake_take(struct tcpstore_out *out, size_t most, struct buf *got)
{
    while (tcpstore_out_len(out)) {
        const void *data;
        size_t len = tcpstore_out_next(out, &data);

        assert_in_range(len, 1, tcpstore_out_len(out));
        len = len < most ? len : most;
        assert_int_equal(buf_append(got, data, len), 0);
        tcpstore_out_sent(out, len, 0);
    }
}

#endif
