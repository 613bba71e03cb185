/* tcpstore_wire.c - PyTorch's TCPStore protocol: cutting a stream into requests */
#include "server/rendezvous/tcpstore_wire.h"

#include <endian.h>
#include <string.h>

#define PARTIAL_KEEP 4096 /* bytes of memory that an idle connection may hold on to */
#define HELLO_LEN 5       /* a VALIDATE query */

/* The fields of each query: k key, b blob, q 64-bit number, u 32-bit number, n the number
 * of items that follow, each of the fields behind it. NULL: not allowed. */
static const char *const fields_of[TCPSTORE_QUERY_COUNT] = {
    [TCPSTORE_SET] = "kb",        [TCPSTORE_COMPARE_SET] = "kbb",
    [TCPSTORE_GET] = "k",         [TCPSTORE_ADD] = "kq",
    [TCPSTORE_CHECK] = "nk",      [TCPSTORE_WAIT] = "nk",
    [TCPSTORE_GETNUMKEYS] = "",   [TCPSTORE_DELETE_KEY] = "k",
    [TCPSTORE_APPEND] = "kb",     [TCPSTORE_MULTI_GET] = "nk",
    [TCPSTORE_MULTI_SET] = "nkb", [TCPSTORE_CANCEL_WAIT] = "",
    [TCPSTORE_PING] = "u",        [TCPSTORE_QUEUE_PUSH] = "kb",
    [TCPSTORE_QUEUE_POP] = "k",   [TCPSTORE_QUEUE_LEN] = "k",
    [TCPSTORE_LIST_KEYS] = "",    [TCPSTORE_BARRIER] = "kq",
    [TCPSTORE_WATCH_KEY] = "k",
};

static const char *const query_names[TCPSTORE_QUERY_COUNT] = {
    [TCPSTORE_VALIDATE] = "validate",
    [TCPSTORE_SET] = "set",
    [TCPSTORE_COMPARE_SET] = "compare_set",
    [TCPSTORE_GET] = "get",
    [TCPSTORE_ADD] = "add",
    [TCPSTORE_CHECK] = "check",
    [TCPSTORE_WAIT] = "wait",
    [TCPSTORE_GETNUMKEYS] = "getnumkeys",
    [TCPSTORE_DELETE_KEY] = "delete_key",
    [TCPSTORE_APPEND] = "append",
    [TCPSTORE_MULTI_GET] = "multi_get",
    [TCPSTORE_MULTI_SET] = "multi_set",
    [TCPSTORE_CANCEL_WAIT] = "cancel_wait",
    [TCPSTORE_PING] = "ping",
    [TCPSTORE_QUEUE_PUSH] = "queue_push",
    [TCPSTORE_QUEUE_POP] = "queue_pop",
    [TCPSTORE_QUEUE_LEN] = "queue_len",
    [TCPSTORE_LIST_KEYS] = "list_keys",
    [TCPSTORE_BARRIER] = "barrier",
    [TCPSTORE_WATCH_KEY] = "watch_key",
};

static const enum tcpstore_query v1_queries[] = {
    TCPSTORE_SET,        TCPSTORE_COMPARE_SET, TCPSTORE_GET,
    TCPSTORE_ADD,        TCPSTORE_CHECK,       TCPSTORE_WAIT,
    TCPSTORE_GETNUMKEYS, TCPSTORE_WATCH_KEY,   TCPSTORE_DELETE_KEY};

const char *tcpstore_query_name(enum tcpstore_query query)
{
    return query_names[query];
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

void tcpstore_parser_init(struct tcpstore_parser *parser, size_t max_request)
{
    memset(parser, 0, sizeof(*parser));
    parser->max_request = max_request;
    buf_init(&parser->partial, max_request);
    parser->need = 1;
}

void tcpstore_parser_release(struct tcpstore_parser *parser)
{
    buf_release(&parser->partial);
}

static enum tcpstore_parse bad(struct tcpstore_parser *parser,
                               enum tcpstore_refusal fault)
{
    parser->fault = fault;
    return TCPSTORE_BAD;
}

static enum tcpstore_parse more(struct tcpstore_parser *parser, size_t need)
{
    if (need > parser->max_request)
        return bad(parser, TCPSTORE_REQUEST_SIZE);
    parser->need = need;
    return TCPSTORE_MORE;
}

/* ---- Finding the end of a request ---- */

/* Both versions may begin with a zero byte: VALIDATE of version 2, SET of version 1.
 * Taken as the low half of a SET's key length the magic is far over the limit, so that
 * four more bytes tell. *offset is set behind a VALIDATE. */
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
    if (query >= TCPSTORE_QUERY_COUNT || !fields_of[query] ||
        (query == TCPSTORE_WATCH_KEY && parser->version != TCPSTORE_V1))
        return bad(parser, TCPSTORE_UNKNOWN_QUERY);
    parser->query = query;
    parser->field = fields_of[query];
    parser->group = NULL;
    parser->rounds = 0;
    parser->scanned = 1;
    return TCPSTORE_REQUEST;
}

/* Take note of one field's head; parser->field moves on. */
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

/* Look at what has not been looked at; TCPSTORE_REQUEST when data holds a whole request,
 * of parser->scanned bytes. */
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
    if (result == TCPSTORE_REQUEST)
        result = more(parser, parser->scanned);
    return result == TCPSTORE_MORE && len >= parser->scanned ? TCPSTORE_REQUEST : result;
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
    const char *field = fields_of[parser->query];

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

/* ---- The stream ---- */

static void forget_partial(struct tcpstore_parser *parser)
{
    parser->is_delivered = false;
    if (parser->partial.capacity > PARTIAL_KEEP)
        buf_release(&parser->partial);
    else
        buf_clear(&parser->partial);
}

static void finish_request(struct tcpstore_parser *parser, const unsigned char *data,
                           struct tcpstore_request *request)
{
    read_request(parser, data, request);
    parser->field = NULL;
    parser->scanned = 0;
    parser->need = 1;
}

static int keep(struct tcpstore_parser *parser, struct tcpstore_slice *input, size_t len)
{
    if (buf_append(&parser->partial, input->data, len) < 0) {
        parser->fault = TCPSTORE_MEMORY;
        return -1;
    }
    input->data += len;
    input->len -= len;
    return 0;
}

/* Go on with a request whose beginning is in partial. */
static enum tcpstore_parse parse_rest(struct tcpstore_parser *parser,
                                      struct tcpstore_slice *input,
                                      struct tcpstore_request *request)
{
    enum tcpstore_parse result = TCPSTORE_MORE;
    struct buf *partial = &parser->partial;

    while (result == TCPSTORE_MORE) {
        size_t missing = parser->need - partial->len;
        if (keep(parser, input, missing < input->len ? missing : input->len) < 0)
            return TCPSTORE_BAD;
        if (partial->len < parser->need)
            return TCPSTORE_MORE;
        result = scan(parser, (const unsigned char *)partial->data, partial->len);
    }
    if (result == TCPSTORE_REQUEST) {
        finish_request(parser, (const unsigned char *)partial->data, request);
        parser->is_delivered = true;
    }
    return result;
}

enum tcpstore_parse tcpstore_parse(struct tcpstore_parser *parser,
                                   struct tcpstore_slice *input,
                                   struct tcpstore_request *request)
{
    enum tcpstore_parse result;

    if (parser->fault)
        return TCPSTORE_BAD;
    if (parser->is_delivered)
        forget_partial(parser);
    if (input->len == 0)
        return TCPSTORE_MORE;
    if (parser->partial.len)
        return parse_rest(parser, input, request);
    result = scan(parser, input->data, input->len);
    if (result == TCPSTORE_MORE)
        return keep(parser, input, input->len) < 0 ? TCPSTORE_BAD : TCPSTORE_MORE;
    if (result == TCPSTORE_REQUEST) {
        size_t len = parser->scanned;
        finish_request(parser, input->data, request);
        input->data += len;
        input->len -= len;
    }
    return result;
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
