/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_wire.c - splits a stream of PyTorch's TCPStore protocol into requests */
#include "server/rendezvous/tcpstore_wire.h"

#include <endian.h>
#include <string.h>

#define HELLO_LEN 5 /* length of a VALIDATE query, the handshake of version 2 */

/* The queries' names and fields. Fields: k key, b blob, q 64-bit number, u 32-bit number,
 * n number of items, each of which contains the fields after the n. fields NULL: the
 * query is allowed only as the handshake. */
static const struct {
    const char *name, *fields;
} queries[TCPSTORE_QUERY_COUNT] = {
    [TCPSTORE_VALIDATE] = {"validate", NULL},
    [TCPSTORE_SET] = {"set", "kb"},
    [TCPSTORE_COMPARE_SET] = {"compare_set", "kbb"},
    [TCPSTORE_GET] = {"get", "k"},
    [TCPSTORE_ADD] = {"add", "kq"},
    [TCPSTORE_CHECK] = {"check", "nk"},
    [TCPSTORE_WAIT] = {"wait", "nk"},
    [TCPSTORE_GETNUMKEYS] = {"getnumkeys", ""},
    [TCPSTORE_DELETE_KEY] = {"delete_key", "k"},
    [TCPSTORE_APPEND] = {"append", "kb"},
    [TCPSTORE_MULTI_GET] = {"multi_get", "nk"},
    [TCPSTORE_MULTI_SET] = {"multi_set", "nkb"},
    [TCPSTORE_CANCEL_WAIT] = {"cancel_wait", ""},
    [TCPSTORE_PING] = {"ping", "u"},
    [TCPSTORE_QUEUE_PUSH] = {"queue_push", "kb"},
    [TCPSTORE_QUEUE_POP] = {"queue_pop", "k"},
    [TCPSTORE_QUEUE_LEN] = {"queue_len", "k"},
    [TCPSTORE_LIST_KEYS] = {"list_keys", ""},
    [TCPSTORE_BARRIER] = {"barrier", "kq"},
    [TCPSTORE_WATCH_KEY] = {"watch_key", "k"},
};

static const enum tcpstore_query v1_queries[] = {
    TCPSTORE_SET,        TCPSTORE_COMPARE_SET, TCPSTORE_GET,
    TCPSTORE_ADD,        TCPSTORE_CHECK,       TCPSTORE_WAIT,
    TCPSTORE_GETNUMKEYS, TCPSTORE_WATCH_KEY,   TCPSTORE_DELETE_KEY};

const char *tcpstore_query_name(enum tcpstore_query query)
{
    return queries[query].name;
}

static uint32_t read_u32(const unsigned char *data)
{
    uint32_t value;

    memcpy(&value, data, sizeof(value));
    return le32toh(value);
}

static uint64_t read_u64(const unsigned char *data)
{
    uint64_t value;

    memcpy(&value, data, sizeof(value));
    return le64toh(value);
}

void tcpstore_parser_init(struct tcpstore_parser *parser)
{
    memset(parser, 0, sizeof(*parser));
    parser->need = 1;
}

static enum tcpstore_parse bad(struct tcpstore_parser *parser,
                               enum tcpstore_refusal fault)
{
    parser->fault = fault;
    return TCPSTORE_BAD;
}

static enum tcpstore_parse more(struct tcpstore_parser *parser, size_t need)
{
    parser->need = need;
    return TCPSTORE_MORE;
}

/* ---- Finding the end of a request ---- */

/* Detect the protocol version. A zero byte begins both VALIDATE of version 2 and SET of
 * version 1, so read four more bytes. In version 2 they contain the magic number, which
 * is too large for the key length of a SET. */
static enum tcpstore_parse detect(struct tcpstore_parser *parser,
                                  const unsigned char *data, size_t len)
{
    if (data[0] != 0) {
        parser->version = TCPSTORE_V1;
        return TCPSTORE_REQUEST;
    }
    if (len < HELLO_LEN)
        return more(parser, HELLO_LEN);
    if (read_u32(data + 1) == TCPSTORE_MAGIC)
        parser->version = TCPSTORE_V2;
    else if (read_u32(data + 1) <= TCPSTORE_KEY_MAX)
        parser->version = TCPSTORE_V1;
    else
        return bad(parser, TCPSTORE_WRONG_MAGIC);
    return TCPSTORE_REQUEST;
}

static enum tcpstore_parse begin_request(struct tcpstore_parser *parser, unsigned type)
{
    unsigned query = type;

    if (parser->version == TCPSTORE_V1) {
        if (type >= sizeof(v1_queries) / sizeof(v1_queries[0]))
            return bad(parser, TCPSTORE_UNKNOWN_QUERY);
        query = v1_queries[type];
    }
    if (query >= TCPSTORE_QUERY_COUNT || !queries[query].fields ||
        (query == TCPSTORE_WATCH_KEY && parser->version != TCPSTORE_V1))
        return bad(parser, TCPSTORE_UNKNOWN_QUERY);
    parser->query = query;
    parser->field = queries[query].fields;
    parser->group = NULL;
    parser->rounds = 0;
    parser->scanned = 1;
    return TCPSTORE_REQUEST;
}

/* Parse the number in a field and advance parser->field. */
static enum tcpstore_parse scan_field(struct tcpstore_parser *parser, uint64_t head)
{
    switch (*parser->field++) {
    case 'k':
        if (head > TCPSTORE_KEY_MAX)
            return bad(parser, TCPSTORE_KEY_LENGTH);
        parser->scanned += head;
        break;
    case 'b':
        if (head > TCPSTORE_BLOB_MAX)
            return bad(parser, TCPSTORE_VALUE_LENGTH);
        parser->scanned += head;
        break;
    case 'n':
        if (head > TCPSTORE_LIST_MAX)
            return bad(parser, TCPSTORE_LIST_LENGTH);
        parser->group = parser->field;
        parser->rounds = head;
        if (head == 0)
            parser->field += strlen(parser->field);
        break;
    default:
        break;
    }
    if (!*parser->field && parser->rounds && --parser->rounds)
        parser->field = parser->group;
    return TCPSTORE_REQUEST;
}

/* Parse the bytes that were not parsed before. Returns TCPSTORE_REQUEST if `data`
 * contains a whole request of parser->scanned bytes. */
static enum tcpstore_parse scan(struct tcpstore_parser *parser, const unsigned char *data,
                                size_t len)
{
    enum tcpstore_parse result = TCPSTORE_REQUEST;

    if (parser->version == TCPSTORE_UNKNOWN) {
        result = detect(parser, data, len);
        if (result != TCPSTORE_REQUEST)
            return result;
        if (parser->version == TCPSTORE_V2) {
            parser->query = TCPSTORE_VALIDATE;
            parser->field = "";
            parser->scanned = HELLO_LEN;
            return TCPSTORE_REQUEST;
        }
    }
    if (!parser->field)
        result = begin_request(parser, data[0]);
    while (result == TCPSTORE_REQUEST && *parser->field) {
        size_t width = *parser->field == 'u' ? 4 : 8;
        const unsigned char *head = data + parser->scanned;
        if (len < parser->scanned + width)
            return more(parser, parser->scanned + width);
        parser->scanned += width;
        result = scan_field(parser, width == 4 ? read_u32(head) : read_u64(head));
    }
    if (result == TCPSTORE_REQUEST && len < parser->scanned)
        return more(parser, parser->scanned);
    return result;
}

/* ---- Reading a whole request ---- */

static struct tcpstore_slice take_slice(struct tcpstore_slice *from)
{
    struct tcpstore_slice slice = {from->data + 8, read_u64(from->data)};

    from->data += 8 + slice.len;
    from->len -= 8 + slice.len;
    return slice;
}

void tcpstore_list_next(struct tcpstore_slice *list, struct tcpstore_slice *key,
                        struct tcpstore_slice *value)
{
    *key = take_slice(list);
    if (value)
        *value = take_slice(list);
}

static void read_request(const struct tcpstore_parser *parser, const unsigned char *data,
                         struct tcpstore_request *request)
{
    struct tcpstore_slice rest = {data + 1, parser->scanned - 1};
    const char *field = queries[parser->query].fields;

    memset(request, 0, sizeof(*request));
    request->query = parser->query;
    for (; field && *field; field++)
        switch (*field) {
        case 'k':
            request->key = take_slice(&rest);
            break;
        case 'b':
            *(field[-1] == 'k' ? &request->value : &request->desired) = take_slice(&rest);
            break;
        case 'q':
            request->number = (int64_t)read_u64(rest.data);
            break;
        case 'u':
            request->number = read_u32(rest.data);
            break;
        default: /* 'n' */
            request->count = read_u64(rest.data);
            request->list.data = rest.data + 8;
            request->list.len = rest.len - 8;
            return;
        }
}

enum tcpstore_parse tcpstore_parse(struct tcpstore_parser *parser,
                                   struct tcpstore_slice *input,
                                   struct tcpstore_request *request)
{
    enum tcpstore_parse result = TCPSTORE_MORE;

    if (input->len >= parser->need)
        result = scan(parser, input->data, input->len);
    if (result != TCPSTORE_REQUEST)
        return result;
    read_request(parser, input->data, request);
    input->data += parser->scanned;
    input->len -= parser->scanned;
    parser->field = NULL;
    parser->scanned = 0;
    parser->need = 1;
    return TCPSTORE_REQUEST;
}

/* ---- Replies ---- */

int tcpstore_put_u8(struct buf *out, uint8_t value)
{
    return buf_append(out, &value, sizeof(value));
}

int tcpstore_put_u32(struct buf *out, uint32_t value)
{
    value = htole32(value);
    return buf_append(out, &value, sizeof(value));
}

int tcpstore_put_i64(struct buf *out, int64_t value)
{
    uint64_t raw = htole64((uint64_t)value);

    return buf_append(out, &raw, sizeof(raw));
}

int tcpstore_put_blob(struct buf *out, const void *data, size_t len)
{
    if (tcpstore_put_i64(out, (int64_t)len) < 0)
        return -1;
    return len ? buf_append(out, data, len) : 0;
}
