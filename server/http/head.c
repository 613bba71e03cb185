/* SPDX-License-Identifier: Apache-2.0 */
/* head.c - detects request heads that another server could read differently */
#include "server/http/head.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

struct walk {
    const char *next; /* address where the next header should begin, or NULL */
    bool is_torn;     /* a header was at an unexpected address */
    unsigned lengths, codings;
    bool is_chunked;
    const char *bad_name, *bad_value; /* names of faulty headers */
};

/* True for versions of the library before 1.0. They accept a bare LF as the end of a
 * line, NUL as the end of a value, and continued lines. Only the addresses of the head's
 * parts reveal such input. */
static bool library_is_lenient(void)
{
    return strncmp(MHD_get_version(), "0.", 2) == 0;
}

static bool is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return len > 0;
}

static bool is_value(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static enum MHD_Result check_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                    size_t name_len, const char *value, size_t value_len)
{
    struct walk *walk = cls;

    (void)kind;
    if (!value)
        value_len = 0;
    if (walk->next && name != walk->next)
        walk->is_torn = true;
    if (walk->next)
        walk->next = (value ? value : name + name_len + 1) + value_len + strlen("\r\n");
    if (!is_token(name, name_len))
        walk->bad_name = name;
    else if (!is_value(value, value_len))
        walk->bad_value = name;
    if (strcasecmp(name, "Content-Length") == 0)
        walk->lengths++;
    if (strcasecmp(name, "Transfer-Encoding") == 0) {
        walk->codings++;
        walk->is_chunked = value && strcasecmp(value, "chunked") == 0;
    }
    return MHD_YES;
}

/* Return the size of the head in bytes; 0 if unknown. Versions of the library before
 * 0.9.74 report a negative number. */
static size_t size_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

    return info && info->header_size < SIZE_MAX / 2 ? info->header_size : 0;
}

/* True if the parts of the head follow each other without unexpected bytes between
 * them. */
static bool is_whole(const struct head_line *line, const struct walk *walk, size_t size)
{
    return line->uri == line->method + strlen(line->method) + 1 &&
           line->version == line->uri_end + 1 && !walk->is_torn &&
           (size == 0 || line->method + size == walk->next + strlen("\r\n"));
}

int head_check(struct MHD_Connection *mhd, const struct head_line *line, bool *is_last,
               struct error *err)
{
    bool is_lenient = library_is_lenient();
    size_t size = size_of(mhd);
    struct walk walk = {.next = NULL};

    if (is_lenient)
        walk.next = line->version + strlen(line->version) + strlen("\r\n");
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, check_header, &walk);
    *is_last = is_lenient && (walk.codings > 0 || size == 0);
    if (walk.bad_name)
        return error_set(err, ERROR_INVALID,
                         "a header's name contains an invalid character");
    if (walk.bad_value)
        return error_set(err, ERROR_INVALID,
                         "the value of the header %.60s contains a control character",
                         walk.bad_value);
    if (walk.lengths > 1)
        return error_set(err, ERROR_INVALID,
                         "the request contains more than one Content-Length");
    if (walk.lengths > 0 && walk.codings > 0)
        return error_set(
            err, ERROR_INVALID,
            "the request contains both Content-Length and Transfer-Encoding");
    if (walk.codings > 1 || (walk.codings == 1 && !walk.is_chunked))
        return error_set(err, ERROR_INVALID, "Transfer-Encoding must be chunked");
    if (is_lenient && !is_whole(line, &walk, size))
        return error_set(err, ERROR_INVALID,
                         "each line of a request head must end with CR LF, contain no "
                         "NUL and not continue on the next line");
    return 0;
}
