/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c - compares the topologies that NCCL detected on a run's nodes */
#include "server/analysis/topology.h"

#include <expat.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/finding/finding.h"

#define DEPTH_MAX 32
#define ELEMENTS_MAX 8192
#define VALUE_MAX 255 /* maximum length of a value, which is NCCL's limit */
#define TEXT_MAX ((size_t)4 << 20)

/* The attributes to compare. Attributes such as bus ids, GUIDs and ranks differ between
 * nodes. */
static const struct {
    const char *tag, *attrs[6];
} compared[] = {
    {"cpu", {"numaid", "vendor", "arch"}},
    {"pci", {"class", "vendor", "device", "link_speed", "link_width"}},
    {"gpu", {"dev", "sm", "gdr"}},
    {"nvlink", {"count", "tclass"}},
    {"net", {"name", "speed", "gdr"}},
};

/* Builds a text for a node. The text contains the compared attributes of each element,
 * and its inner elements in sorted order. */
struct reading {
    XML_Parser parser;
    json_t *open[DEPTH_MAX]; /* for each open element: [own text, inner texts ...] */
    size_t depth, n, n_cpus;
    json_t *text;     /* text of the root element, once that element has ended */
    struct error err; /* error other than a syntax error */
};

static void stop(struct reading *reading, const char *why)
{
    if (reading->err.code == ERROR_NONE)
        error_set(&reading->err, ERROR_INVALID, "%s", why);
    XML_StopParser(reading->parser, XML_FALSE);
}

static void put_attrs(struct buf *out, const char *tag, const char **attrs)
{
    for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++)
        for (size_t k = 0; strcmp(compared[i].tag, tag) == 0 && compared[i].attrs[k]; k++)
            for (size_t a = 0; attrs[a]; a += 2)
                if (strcmp(attrs[a], compared[i].attrs[k]) == 0)
                    buf_printf(out, " %s=%s", attrs[a], attrs[a + 1]);
}

static void on_begin(void *arg, const char *tag, const char **attrs)
{
    struct reading *reading = arg;
    struct buf own;

    if (reading->depth == DEPTH_MAX || ++reading->n > ELEMENTS_MAX) {
        stop(reading, "the XML contains too many elements");
        return;
    }
    for (size_t i = 0; attrs[i]; i++)
        if (strlen(attrs[i]) > VALUE_MAX)
            stop(reading, "the XML contains a value that is too long");
    buf_init(&own, TEXT_MAX);
    buf_append_str(&own, tag);
    put_attrs(&own, tag, attrs);
    reading->n_cpus += strcmp(tag, "cpu") == 0;
    reading->open[reading->depth++] = json_pack("[o]", json_clean_string(own.data));
    buf_release(&own);
}

/* Insert an inner text in sorted order, after the element's own text. */
static void insert(json_t *texts, json_t *inner)
{
    const char *text = json_string_value(inner);
    size_t i = json_array_size(texts);

    while (i > 1 && strcmp(json_string_value(json_array_get(texts, i - 1)), text) > 0)
        i--;
    json_array_insert_new(texts, i, inner);
}

static void on_end(void *arg, const char *tag)
{
    struct reading *reading = arg;
    json_t *texts = reading->open[--reading->depth], *one;
    struct buf out;
    size_t i;

    (void)tag;
    buf_init(&out, TEXT_MAX);
    json_array_foreach (texts, i, one)
        buf_printf(&out, i == 0 ? "%s(" : "%s;", json_string_value(one));
    buf_append_str(&out, ")");
    if (reading->depth > 0)
        insert(reading->open[reading->depth - 1], json_string(out.data));
    else
        reading->text = json_string(out.data);
    buf_release(&out);
    json_decref(texts);
}

/* Reject document types. NCCL writes none, and a document type could define entities. */
static void on_doctype(void *arg, const char *name, const char *system,
                       const char *public_id, int has_internal)
{
    (void)name, (void)system, (void)public_id, (void)has_internal;
    stop(arg, "the XML contains a document type");
}

/* Return the node's text as a new string, or NULL with err. */
static json_t *read_text(const struct topology_text *text, struct error *err)
{
    struct reading reading = {.parser = XML_ParserCreate("UTF-8"),
                              .err = {ERROR_NONE, ""}};
    bool is_read;

    if (!reading.parser)
        memory_out("a topology");
    XML_SetUserData(reading.parser, &reading);
    XML_SetElementHandler(reading.parser, on_begin, on_end);
    XML_SetStartDoctypeDeclHandler(reading.parser, on_doctype);
    is_read =
        XML_Parse(reading.parser, text->xml, (int)text->len, XML_TRUE) == XML_STATUS_OK;
    if (!is_read && reading.err.code == ERROR_NONE)
        error_set(&reading.err, ERROR_INVALID, "the file is not XML: %s",
                  XML_ErrorString(XML_GetErrorCode(reading.parser)));
    else if (is_read && reading.n_cpus == 0)
        error_set(&reading.err, ERROR_INVALID,
                  "the XML contains no CPU, so it is not an NCCL topology");
    while (reading.depth > 0)
        json_decref(reading.open[--reading.depth]);
    XML_ParserFree(reading.parser);
    if (reading.err.code == ERROR_NONE)
        return reading.text;
    json_decref(reading.text);
    *err = reading.err;
    return NULL;
}

static size_t size_of(const json_t *kind)
{
    return json_array_size(json_object_get(kind, "nodes"));
}

/* Build the verdict. If most nodes are of one kind, the other nodes are named. */
static json_t *verdict_of(const json_t *kinds, size_t n, const char *mark)
{
    const json_t *usual = json_array_get(kinds, 0), *kind;
    size_t n_kinds = json_array_size(kinds), i;
    struct finding finding = finding_begin();
    json_t *odd = json_array();

    json_array_foreach (kinds, i, kind)
        usual = size_of(kind) > size_of(usual) ? kind : usual;
    json_array_foreach (kinds, i, kind)
        if (kind != usual && 2 * size_of(usual) > n)
            json_array_extend(odd, json_object_get(kind, "nodes"));
    finding_name_all(&finding, odd);
    finding_put(&finding, "{s:I, s:I, s:I, s:b}", "nodes", (json_int_t)n, "kinds",
                (json_int_t)n_kinds, "$usual", (json_int_t)size_of(usual), "$one",
                (int)(n == 1));
    json_decref(odd);
    return finding_end(&finding,
                       n < 2         ? MESSAGE_TOPOLOGY_OPEN
                       : n_kinds > 1 ? MESSAGE_TOPOLOGY_DIFFERS
                                     : MESSAGE_TOPOLOGY_SAME,
                       mark);
}

json_t *topology_judge(const struct topology_text *texts, size_t n, const char *mark)
{
    json_t *known = json_object(), *kinds = json_array(), *unread = json_array();
    struct error err;

    for (size_t i = 0; i < n; i++) {
        json_t *text = read_text(&texts[i], &err), *node = json_string(texts[i].node);
        json_t *kind = json_object_get(known, json_string_value(text));

        if (text && !kind) {
            kind = json_pack("{s:[], s:s%}", "nodes", "xml", texts[i].xml, texts[i].len);
            json_object_set(known, json_string_value(text), kind);
            json_array_append_new(kinds, kind);
        }
        if (text)
            json_array_append(json_object_get(kind, "nodes"), node);
        else
            json_array_append_new(unread,
                                  json_pack("{s:O, s:s}", "node", node, "why", err.text));
        json_decref(node);
        json_decref(text);
    }
    json_decref(known);
    return json_pack("{s:o, s:o, s:o}", "verdict",
                     verdict_of(kinds, n - json_array_size(unread), mark), "kinds", kinds,
                     "unread", unread);
}
