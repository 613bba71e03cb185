/* topology_read.c - what NCCL takes a node to be, out of the XML that it writes */
#include "server/analysis/topology_read.h"

#include <expat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"

#define VALUE_MAX 255 /* of NCCL itself */
#define PARTS "parts"
#define TAG "tag"

/* Elements as objects of their attributes, with TAG and PARTS: an attribute of such a
 * name gives way. */
struct reading {
    XML_Parser parser;
    json_t *open[TOPOLOGY_DEPTH_MAX]; /* borrowed from each other, from the root on */
    size_t depth, n;
    json_t *root;
    struct error err; /* of what is no fault of syntax */
};

static void stop(struct reading *reading, const char *why)
{
    if (reading->err.code == ERROR_NONE)
        error_set(&reading->err, ERROR_INVALID, "%s", why);
    XML_StopParser(reading->parser, XML_FALSE);
}

static json_t *element_json(struct reading *reading, const char *tag, const char **attrs)
{
    json_t *element = json_object();

    for (size_t i = 0; attrs[i]; i += 2) {
        if (strlen(attrs[i + 1]) > VALUE_MAX || strlen(attrs[i]) > VALUE_MAX)
            stop(reading, "a value in it is too long");
        json_object_set_new(element, attrs[i], json_clean_string(attrs[i + 1]));
    }
    json_object_set_new(element, TAG, json_string(tag));
    json_object_set_new(element, PARTS, json_array());
    return element;
}

static void on_begin(void *arg, const char *tag, const char **attrs)
{
    struct reading *reading = arg;
    json_t *element;

    if (reading->depth == TOPOLOGY_DEPTH_MAX || ++reading->n > TOPOLOGY_PARTS_MAX) {
        stop(reading, "it has too many parts");
        return;
    }
    element = element_json(reading, tag, attrs);
    if (reading->depth == 0)
        reading->root = element;
    else
        json_array_append_new(json_object_get(reading->open[reading->depth - 1], PARTS),
                              element);
    reading->open[reading->depth++] = element;
}

static void on_end(void *arg, const char *tag)
{
    struct reading *reading = arg;

    (void)tag;
    reading->depth--;
}

/* NCCL writes none, and with one come entities. */
static void on_doctype(void *arg, const char *name, const char *system,
                       const char *public_id, int has_internal)
{
    (void)name;
    (void)system;
    (void)public_id;
    (void)has_internal;
    stop(arg, "it has a document type");
}

/* ---- From elements to parts ---- */

static const char *attr(const json_t *element, const char *name)
{
    return json_get_str(element, name, "");
}

static bool is_tag(const json_t *element, const char *tag)
{
    return strcmp(attr(element, TAG), tag) == 0;
}

static json_t *part_new(const char *kind, const char *before, const char *name)
{
    char text[VALUE_MAX + 16];

    snprintf(text, sizeof(text), "%s%s", before, name);
    return json_pack("{s:s, s:s}", "kind", kind, "name", text);
}

static void put_text(json_t *part, const char *key, const char *text)
{
    if (*text)
        json_object_set_new(part, key, json_string(text));
}

/* "16.0 GT/s PCIe" and "8" are "16 GT/s x8". */
static void put_pci(json_t *part, const json_t *pci)
{
    const char *speed = attr(pci, "link_speed"), *width = attr(pci, "link_width");
    double rate = strtod(speed, NULL);
    char text[VALUE_MAX + 32];

    put_text(part, "bus", attr(pci, "busid"));
    if (rate > 0)
        snprintf(text, sizeof(text), "%g GT/s x%s", rate, *width ? width : "?");
    else
        snprintf(text, sizeof(text), "%s", *width ? "unknown" : "");
    put_text(part, "link", text);
    snprintf(text, sizeof(text), "%s:%s", attr(pci, "vendor"), attr(pci, "device"));
    if (strlen(text) > 1)
        put_text(part, "device", text);
}

/* What NVLinks lead to, by the PCI class of that: their targets are bus ids. */
static void put_nvlinks(json_t *part, const json_t *gpu)
{
    static const char *const ends[] = {"NVSwitch", "GPUs", "CPU"};
    long counts[3] = {0};
    const json_t *list = json_object_get(gpu, PARTS), *one;
    char text[100] = "";
    size_t i, n = 0;

    json_array_foreach (list, i, one) {
        const char *class = attr(one, "tclass");

        if (is_tag(one, "nvlink"))
            counts[strncmp(class, "0x0680", 6) == 0 ? 0
                   : strncmp(class, "0x03", 4) == 0 ? 1
                                                    : 2] +=
                strtol(attr(one, "count"), NULL, 10) % 1000;
    }
    for (i = 0; i < 3; i++)
        if (counts[i])
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%ld to %s",
                                  n ? ", " : "", counts[i], ends[i]);
    put_text(part, "nvlinks", text);
}

static json_t *gpu_part(const json_t *gpu, const json_t *pci)
{
    json_t *part = part_new("gpu", "GPU ", attr(gpu, "dev"));

    put_pci(part, pci);
    put_nvlinks(part, gpu);
    put_text(part, "sm", attr(gpu, "sm"));
    put_text(part, "gdr", attr(gpu, "gdr"));
    return part;
}

/* speed: in Mb/s. */
static json_t *net_part(const json_t *net, const json_t *pci)
{
    json_t *part = part_new("nic", "", attr(net, "name"));
    double speed = strtod(attr(net, "speed"), NULL);
    char text[64] = "";

    put_pci(part, pci);
    if (speed > 0)
        snprintf(text, sizeof(text), "%g Gb/s", speed / 1000);
    put_text(part, "speed", text);
    put_text(part, "gdr", attr(net, "gdr"));
    return part;
}

static void add_parts(json_t *parts, const json_t *element, const json_t *above);

/* A PCI device that is neither GPU nor NIC: a switch where something is below it. */
static json_t *pci_part(const json_t *pci, json_t *inner)
{
    bool has_parts = json_array_size(inner) > 0;
    const char *kind = has_parts ? "switch" : "device";
    json_t *part = part_new(kind, "", kind);

    put_pci(part, pci);
    if (has_parts)
        json_object_set(part, PARTS, inner);
    return part;
}

static void add_pci(json_t *parts, const json_t *pci)
{
    bool is_bridge = strncmp(attr(pci, "class"), "0x06", 4) == 0;
    json_t *inner = json_array();

    add_parts(inner, pci, pci);
    if (is_bridge || json_array_size(inner) == 0)
        json_array_append_new(parts, pci_part(pci, inner));
    else
        json_array_extend(parts, inner);
    json_decref(inner);
}

/* above: the PCI device that the element is of, or NULL. */
static void add_parts(json_t *parts, const json_t *element, const json_t *above)
{
    const json_t *one;
    size_t i;

    json_array_foreach (json_object_get(element, PARTS), i, one)
        if (is_tag(one, "pci"))
            add_pci(parts, one);
        else if (is_tag(one, "nic"))
            add_parts(parts, one, above);
        else if (is_tag(one, "gpu"))
            json_array_append_new(parts, gpu_part(one, above));
        else if (is_tag(one, "net"))
            json_array_append_new(parts, net_part(one, above));
}

/* Of several hosts, whose GPUs share NVLinks, each has sockets of its own. */
static json_t *socket_part(const json_t *cpu, size_t host)
{
    json_t *part = part_new("socket", "socket ", attr(cpu, "numaid"));
    json_t *parts = json_array();
    char text[2 * VALUE_MAX + 2];

    snprintf(text, sizeof(text), "%s %s", attr(cpu, "vendor"), attr(cpu, "arch"));
    put_text(part, "device", text + (text[0] == ' '));
    if (host > 0)
        json_object_set_new(part, "host", json_integer((json_int_t)host));
    add_parts(parts, cpu, NULL);
    json_object_set_new(part, PARTS, parts);
    return part;
}

static json_t *system_part(const json_t *root)
{
    json_t *part = json_pack("{s:s, s:s, s:[]}", "kind", "system", "name", "node", PARTS);
    const char *first = NULL, *last = NULL;
    const json_t *cpu;
    size_t i, host = 0;

    json_array_foreach (json_object_get(root, PARTS), i, cpu) {
        const char *hash = attr(cpu, "host_hash");

        if (!is_tag(cpu, "cpu"))
            continue;
        host += last && strcmp(hash, last) != 0 && strcmp(hash, first) != 0;
        first = first ? first : hash;
        last = hash;
        json_array_append_new(json_object_get(part, PARTS), socket_part(cpu, host));
    }
    return part;
}

/* The one of fixed width is Expat 2.9's, which deprecates the other. */
static unsigned long line_of(XML_Parser parser)
{
#if XML_MAJOR_VERSION > 2 || (XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION >= 9)
    return (unsigned long)XML_GetCurrentLineNumber64(parser);
#else
    return (unsigned long)XML_GetCurrentLineNumber(parser);
#endif
}

json_t *topology_read(const char *xml, size_t len, struct error *err)
{
    struct reading reading = {.parser = XML_ParserCreate("UTF-8"),
                              .err = {ERROR_NONE, ""}};
    json_t *tree = NULL;

    if (!reading.parser) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    XML_SetUserData(reading.parser, &reading);
    XML_SetElementHandler(reading.parser, on_begin, on_end);
    XML_SetStartDoctypeDeclHandler(reading.parser, on_doctype);
    if (XML_Parse(reading.parser, xml, (int)len, XML_TRUE) == XML_STATUS_OK &&
        reading.root && is_tag(reading.root, "system"))
        tree = system_part(reading.root);
    else if (reading.err.code != ERROR_NONE)
        *err = reading.err;
    else if (reading.root && XML_GetErrorCode(reading.parser) == XML_ERROR_NONE)
        error_set(err, ERROR_INVALID, "it is no topology of NCCL's");
    else
        error_set(err, ERROR_INVALID, "it is no XML: %s, line %lu",
                  XML_ErrorString(XML_GetErrorCode(reading.parser)),
                  line_of(reading.parser));
    if (tree && json_array_size(json_object_get(tree, PARTS)) == 0) {
        json_decref(tree);
        tree = NULL;
        error_set(err, ERROR_INVALID, "it has no CPU socket");
    }
    json_decref(reading.root);
    XML_ParserFree(reading.parser);
    return tree;
}
