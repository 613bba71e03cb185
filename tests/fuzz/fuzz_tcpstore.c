/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tcpstore.c - TCPStore's parser and store under hostile clients of both versions,
 * whose bytes come in any pieces */
#include <stdlib.h>
#include <string.h>

#include "server/rendezvous/tcpstore_kv.h"

#define CLIENTS 4
#define MAX_BYTES 65536
#define MAX_REPLY 262144
#define TTL_MS 100
#define TICK 0xf0 /* a piece that so begins is time that passes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct fake {
    struct tcpstore_client client; /* first: a wake finds the rest by it */
    struct tcpstore_parser parser;
    struct buf input; /* not taken yet */
    struct tcpstore_out out;
};

static void check(bool is_so)
{
    if (!is_so)
        abort();
}

static void on_wake(struct tcpstore_client *client)
{
    struct fake *fake = (struct fake *)client;

    check(!client->missing && TAILQ_EMPTY(&client->waits));
    if (fake->out.bytes.len < MAX_REPLY)
        tcpstore_put_u8(&fake->out.bytes, TCPSTORE_STOP_WAITING);
}

/* Clients 2 and 3 need not say hello, so that mutations need not spare it. */
static void fake_init(struct fake *fake, struct tcpstore_kv *kv, int number)
{
    tcpstore_client_init(&fake->client, kv, on_wake);
    tcpstore_parser_init(&fake->parser);
    tcpstore_out_init(&fake->out, MAX_REPLY);
    buf_init(&fake->input, SIZE_MAX);
    if (number >= 2)
        fake->parser.version = number == 2 ? TCPSTORE_V2 : TCPSTORE_V1;
}

static void fake_release(struct fake *fake)
{
    tcpstore_client_release(&fake->client);
    tcpstore_out_release(&fake->out);
    buf_release(&fake->input);
}

static int execute(struct fake *fake, const struct tcpstore_request *request)
{
    struct tcpstore_client *client = &fake->client;
    struct tcpstore_usage usage;
    enum tcpstore_refusal why;
    size_t before = fake->out.bytes.len;
    int rc;

    client->is_v1 = fake->parser.version == TCPSTORE_V1;
    check(request->query != TCPSTORE_WATCH_KEY || client->is_v1);
    rc = tcpstore_kv_execute(client, request, &fake->out, &why);
    tcpstore_kv_usage(client->kv, &usage);
    check(usage.bytes <= MAX_BYTES && usage.keys <= 64 && usage.waits <= CLIENTS);
    if (rc == 0 && request->query == TCPSTORE_CANCEL_WAIT)
        check(!client->missing && fake->out.bytes.len == before + 1 &&
              fake->out.bytes.data[before] == 1);
    while (tcpstore_out_len(&fake->out)) {
        const void *part;
        size_t len = tcpstore_out_next(&fake->out, &part);

        check(len > 0 && len <= tcpstore_out_len(&fake->out));
        tcpstore_out_sent(&fake->out, len - len / 3, SIZE_MAX);
    }
    return rc;
}

/* Give a client some bytes; the parser sees memory that ends with them. -1 when the
 * client is to be disconnected. */
static int feed(struct fake *fake, const uint8_t *data, size_t len)
{
    enum tcpstore_parse result = TCPSTORE_REQUEST;
    struct tcpstore_request request;
    struct tcpstore_slice input;
    uint8_t *copy;
    int rc = 0;

    buf_append(&fake->input, data, len);
    copy = malloc(fake->input.len ? fake->input.len : 1);
    memcpy(copy, fake->input.data, fake->input.len);
    input = (struct tcpstore_slice){copy, fake->input.len};
    while (rc == 0 && result == TCPSTORE_REQUEST) {
        result = tcpstore_parse(&fake->parser, &input, &request);
        if (result == TCPSTORE_REQUEST)
            rc = execute(fake, &request);
    }
    check(result != TCPSTORE_BAD || fake->parser.fault);
    buf_consume(&fake->input, fake->input.len - input.len);
    free(copy);
    return result == TCPSTORE_BAD ? -1 : rc;
}

/* Without clients and after a time to live nothing is left. */
static void check_empty(struct tcpstore_kv *kv)
{
    struct tcpstore_usage usage;

    tcpstore_kv_expire(kv, INT64_MAX);
    tcpstore_kv_usage(kv, &usage);
    check(!usage.waits && !usage.keys && !usage.bytes);
}

/* data: pieces, each a byte that names the client and a byte of length. */
static void play(const uint8_t *data, size_t len)
{
    const struct tcpstore_limits limits = {.max_keys = 64,
                                           .max_bytes = MAX_BYTES,
                                           .max_id_bytes = MAX_BYTES / 2,
                                           .ttl_ms = TTL_MS};
    struct tcpstore_kv *kv = tcpstore_kv_create(&limits, "secret");
    struct fake fakes[CLIENTS];
    int64_t now_ms = 1;

    tcpstore_kv_expire(kv, now_ms);
    for (int i = 0; i < CLIENTS; i++)
        fake_init(&fakes[i], kv, i);
    while (len >= 2) {
        int client = data[0] % CLIENTS;
        size_t piece = data[1] < len - 2 ? data[1] : len - 2;
        if (data[0] >= TICK) {
            now_ms += data[1];
            tcpstore_kv_expire(kv, now_ms);
            piece = 0;
        } else if (feed(&fakes[client], data + 2, piece) < 0) {
            fake_release(&fakes[client]);
            fake_init(&fakes[client], kv, client);
        }
        data += 2 + piece;
        len -= 2 + piece;
    }
    for (int i = 0; i < CLIENTS; i++)
        fake_release(&fakes[i]);
    check_empty(kv);
    tcpstore_kv_destroy(kv);
}

static void mix(uint64_t *digest, const void *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        *digest = (*digest ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
}

static void digest_request(uint64_t *digest, const struct tcpstore_request *request)
{
    mix(digest, &request->query, sizeof(request->query));
    mix(digest, request->key.data, request->key.len);
    mix(digest, request->value.data, request->value.len);
    mix(digest, request->desired.data, request->desired.len);
    mix(digest, &request->number, sizeof(request->number));
    mix(digest, &request->count, sizeof(request->count));
    /* A list's slice runs to the end of its request. */
    mix(digest, request->list.data, request->list.len);
}

/* The meaning of a stream that comes in pieces of at most `most` bytes. */
static uint64_t digest_stream(const uint8_t *data, size_t len, size_t most)
{
    uint64_t digest = UINT64_C(14695981039346656037);
    enum tcpstore_parse result = TCPSTORE_MORE;
    struct tcpstore_slice input = {data, 0};
    struct tcpstore_request request;
    struct tcpstore_parser parser;

    tcpstore_parser_init(&parser);
    while (input.data + input.len < data + len && result != TCPSTORE_BAD) {
        size_t left = (size_t)(data + len - input.data) - input.len;

        input.len += left < most ? left : most;
        do {
            result = tcpstore_parse(&parser, &input, &request);
            if (result == TCPSTORE_REQUEST)
                digest_request(&digest, &request);
        } while (result == TCPSTORE_REQUEST);
    }
    mix(&digest, &parser.version, sizeof(parser.version));
    mix(&digest, &result, sizeof(result));
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < 2)
        return 0;
    if (data[0] & 1)
        play(data + 1, len - 1);
    else
        check(digest_stream(data + 2, len - 2, len) ==
              digest_stream(data + 2, len - 2, 1 + data[1] % 32));
    return 0;
}
