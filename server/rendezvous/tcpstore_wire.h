/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_wire.h - splits a stream of PyTorch's TCPStore protocol into requests, and
 * writes replies. Supports versions 1 (torch before 2.1) and 2 (since 2.2). No I/O. */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_WIRE_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "server/rendezvous/tcpstore_refusal.h"

/* The limits of libtorch's TCPStore server. */
#define TCPSTORE_KEY_MAX 8192
#define TCPSTORE_BLOB_MAX (8u << 20)
#define TCPSTORE_LIST_MAX 131072
#define TCPSTORE_MAGIC 0x3C85F7CEu

/* Queries with their numbers in version 2. The parser maps the numbers of version 1 to
 * them. */
enum tcpstore_query {
    TCPSTORE_VALIDATE,
    TCPSTORE_SET,
    TCPSTORE_COMPARE_SET,
    TCPSTORE_GET,
    TCPSTORE_ADD,
    TCPSTORE_CHECK,
    TCPSTORE_WAIT,
    TCPSTORE_GETNUMKEYS,
    TCPSTORE_DELETE_KEY,
    TCPSTORE_APPEND,
    TCPSTORE_MULTI_GET,
    TCPSTORE_MULTI_SET,
    TCPSTORE_CANCEL_WAIT,
    TCPSTORE_PING,
    TCPSTORE_QUEUE_PUSH,
    TCPSTORE_QUEUE_POP,
    TCPSTORE_QUEUE_LEN,
    TCPSTORE_LIST_KEYS,
    TCPSTORE_BARRIER,
    TCPSTORE_QUERIES,                      /* number of queries in version 2 */
    TCPSTORE_WATCH_KEY = TCPSTORE_QUERIES, /* exists in version 1 only */
    TCPSTORE_QUERY_COUNT
};

/* Return a query's name, such as "compare_set" (static). */
const char *tcpstore_query_name(enum tcpstore_query query);

struct tcpstore_slice {
    const unsigned char *data;
    size_t len;
};

struct tcpstore_request {
    enum tcpstore_query query;
    struct tcpstore_slice key;
    struct tcpstore_slice value;   /* for COMPARE_SET: the expected value */
    struct tcpstore_slice desired; /* for COMPARE_SET: the value to store */
    int64_t number;                /* ADD: delta; BARRIER: world size; PING: the nonce */
    uint64_t count;                /* number of items in `list` */
    struct tcpstore_slice list;    /* the encoded keys, or keys and values */
};

/* Remove the next key, and the next value unless `value` is NULL, from an encoded
 * list. */
void tcpstore_list_next(struct tcpstore_slice *list, struct tcpstore_slice *key,
                        struct tcpstore_slice *value);

enum tcpstore_version { TCPSTORE_UNKNOWN, TCPSTORE_V1, TCPSTORE_V2 };

enum tcpstore_parse {
    TCPSTORE_MORE,    /* the request is not complete */
    TCPSTORE_REQUEST, /* *request is complete; more input may be left */
    TCPSTORE_BAD      /* violation of the protocol or of a limit; close the connection */
};

struct tcpstore_parser {
    enum tcpstore_version version;
    enum tcpstore_refusal fault; /* the reason for TCPSTORE_BAD */
    enum tcpstore_query query;
    const char *field; /* the next field's kind; NULL: the type byte comes next */
    const char *group; /* the first field of a list's items, or NULL */
    uint64_t rounds;   /* list items left, including the current one */
    size_t scanned;    /* bytes of the request parsed so far */
    size_t need;       /* bytes needed to continue parsing */
};

void tcpstore_parser_init(struct tcpstore_parser *parser);

/* Remove one request from the front of *input. *request points into the input. After
 * TCPSTORE_MORE, call the function again with the same bytes followed by new ones;
 * parsing continues where it stopped. */
enum tcpstore_parse tcpstore_parse(struct tcpstore_parser *parser,
                                   struct tcpstore_slice *input,
                                   struct tcpstore_request *request);

/* Append a part of a reply. Returns -1 if `out` is full. */
int tcpstore_put_u8(struct buf *out, uint8_t value);
int tcpstore_put_u32(struct buf *out, uint32_t value);
int tcpstore_put_i64(struct buf *out, int64_t value);
int tcpstore_put_blob(struct buf *out, const void *data, size_t len);

#endif
