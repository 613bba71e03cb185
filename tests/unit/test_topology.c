/* SPDX-License-Identifier: Apache-2.0 */
/* test_topology.c - whether nodes are alike by what NCCL wrote of them: nodes with faults
 * are named, and values that are each node's own are no fault. The nodes are made from
 * the form that NVIDIA/nccl, src/graph/xml.cc writes; two files are real. */
#include "common/base/json_util.h"
#include "server/analysis/topology.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define XML_BYTES 8192
#define NODES_MAX 16

/* A node with a socket, a switch, two GPUs and two NICs. */
struct made {
    int bus;    /* where its bus ids begin */
    int width;  /* of GPU 1's link */
    int links;  /* NVLinks of GPU 0 */
    int socket; /* that mlx5_1 is on */
    bool lacks; /* mlx5_1 */
};

static const struct made healthy = {.bus = 0x10, .width = 16, .links = 18, .socket = 0};

#define PCI                                                                              \
    "<pci busid=\"0000:%02x:00.0\" class=\"0x%s\" vendor=\"0x10de\" device=\"0x2330\" "  \
    "link_speed=\"32.0 GT/s PCIe\" link_width=\"%d\">"

static int put_nic(char *xml, size_t size, const struct made *m, int number)
{
    return snprintf(
        xml, size,
        PCI "<nic><net name=\"mlx5_%d\" dev=\"%d\" speed=\"400000\" port=\"1\" "
            "latency=\"0.0\" guid=\"0x%x\" maxconn=\"131072\" gdr=\"1\"/></nic></pci>",
        m->bus + 8 + number, "020700", 16, number, number, m->bus * 7);
}

static void make(const struct made *m, char xml[XML_BYTES])
{
    int n = snprintf(xml, XML_BYTES,
                     "<system version=\"1\"><cpu host_hash=\"0x%x\" numaid=\"0\" "
                     "affinity=\"%08x\" arch=\"x86_64\" vendor=\"GenuineIntel\">" PCI,
                     m->bus * 31, m->bus, m->bus, "060400", 16);

    for (int gpu = 0; gpu < 2; gpu++)
        n += snprintf(
            xml + n, (size_t)(XML_BYTES - n),
            PCI
            "<gpu dev=\"%d\" sm=\"90\" rank=\"%d\" gdr=\"1\"><nvlink "
            "target=\"0000:%02x:00.0\" count=\"%d\" tclass=\"0x068000\"/></gpu></pci>",
            m->bus + 1 + gpu, "030200", gpu == 1 ? m->width : 16, gpu, m->bus + gpu,
            m->bus + 4, gpu == 0 ? m->links : 18);
    n += put_nic(xml + n, (size_t)(XML_BYTES - n), m, 0);
    if (!m->lacks && m->socket == 0)
        n += put_nic(xml + n, (size_t)(XML_BYTES - n), m, 1);
    n += snprintf(xml + n, (size_t)(XML_BYTES - n),
                  "</pci></cpu><cpu host_hash=\"0x%x\" numaid=\"1\" affinity=\"0\" "
                  "arch=\"x86_64\" vendor=\"GenuineIntel\">",
                  m->bus * 31);
    if (!m->lacks && m->socket == 1)
        n += put_nic(xml + n, (size_t)(XML_BYTES - n), m, 1);
    snprintf(xml + n, (size_t)(XML_BYTES - n), "</cpu></system>\n");
}

/* node-1 to node-n, of which the last is as given. A new answer. */
static json_t *judge(size_t n, struct made last)
{
    static char xml[NODES_MAX][XML_BYTES], names[NODES_MAX][16];
    struct topology_text texts[NODES_MAX] = {0};

    for (size_t i = 0; i < n; i++) {
        struct made m = i + 1 < n ? healthy : last;

        m.bus += (int)i;
        make(&m, xml[i]);
        snprintf(names[i], sizeof(names[i]), "node-%zu", i + 1);
        texts[i] = (struct topology_text){names[i], xml[i], strlen(xml[i])};
    }
    return topology_judge(texts, n, NULL);
}

static void check(size_t n, struct made last, const char *answer, const char *names)
{
    json_t *judged = judge(n, last), *verdict = json_object_get(judged, "verdict");

    assert_mentions(json_get_str(verdict, "sentence", ""), names);
    assert_string_equal(json_get_str(verdict, "answer", ""), answer);
    assert_int_equal(json_array_size(json_object_get(judged, "unread")), 0);
    json_decref(judged);
}

TEST(what_is_each_nodes_own_is_no_difference)
{
    check(16, healthy, "same", "the topology is the same on all 16 nodes");
    check(2, healthy, "same", "2");
}

TEST(the_odd_node_is_named)
{
    struct made narrow = healthy, few = healthy, moved = healthy, lacks = healthy;

    narrow.width = 8;
    check(16, narrow, "differs", "identical on 15 of 16 nodes; node-16 differs");
    few.links = 17;
    check(3, few, "differs", "2 3 node-3");
    lacks.lacks = true;
    check(3, lacks, "differs", "2 3 node-3");
    moved.socket = 1;
    check(3, moved, "differs", "2 3 node-3");
}

TEST(of_two_that_differ_none_is_the_odd_one)
{
    struct made narrow = healthy;
    json_t *judged;

    narrow.width = 4;
    check(2, narrow, "differs", "2 kinds of topology on 2 nodes");
    judged = judge(2, narrow);
    assert_int_equal(json_array_size(json_object_get(judged, "kinds")), 2);
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(judged, "verdict"), "nodes")), 0);
    json_decref(judged);
}

TEST(one_node_says_nothing)
{
    check(1, healthy, "not_enough_data",
          "one node has reported its topology, so there is nothing to compare");
    check(0, healthy, "not_enough_data",
          "no node has reported its topology, so there is nothing to compare");
}

static char *read_file(const char *name, size_t *len)
{
    char path[300], *text = calloc(1, 1 << 16);
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", TOPOLOGIES, name);
    file = fopen(path, "r");
    assert_non_null(file);
    *len = fread(text, 1, 1 << 16, file);
    fclose(file);
    return text;
}

TEST(real_files_are_read)
{
    size_t len, other_len;
    char *text = read_file("a800.xml", &len);
    char *other = read_file("a800_one_nic.xml", &other_len);
    const struct topology_text texts[] = {{"a", text, len}, {"b", other, other_len}};
    json_t *judged = topology_judge(texts, 2, NULL);
    const json_t *kinds = json_object_get(judged, "kinds");

    assert_int_equal(json_array_size(kinds), 2);
    assert_string_equal(json_get_str(json_array_get(kinds, 0), "xml", ""), text);
    assert_string_equal(json_get_str(json_object_get(judged, "verdict"), "answer", ""),
                        "differs");
    json_decref(judged);
    free(text);
    free(other);
}

static void refuse(const char *xml, const char *why)
{
    const struct topology_text text = {"a", xml, strlen(xml)};
    json_t *judged = topology_judge(&text, 1, NULL);
    const json_t *one = json_array_get(json_object_get(judged, "unread"), 0);

    assert_int_equal(json_array_size(json_object_get(judged, "kinds")), 0);
    assert_string_equal(json_get_str(one, "node", ""), "a");
    assert_non_null(strstr(json_get_str(one, "why", ""), why));
    json_decref(judged);
}

TEST(what_is_no_topology_is_refused)
{
    char deep[4096] = "", longs[600] = "<system><cpu numaid=\"";

    refuse("", "not XML: no element found");
    refuse("<system><cpu></system>", "mismatched tag");
    refuse("<graphs version=\"1\"/>", "no CPU");
    refuse("<system version=\"1\"/>", "no CPU");
    refuse("<!DOCTYPE s [<!ENTITY a \"x\"><!ENTITY b \"&a;&a;\">]><system>&b;</system>",
           "the XML contains a document type");
    for (int i = 0; i < 40; i++)
        strcat(deep, "<system>");
    refuse(deep, "too many elements");
    memset(longs + strlen(longs), 'x', 300);
    strcat(longs, "\"/></system>");
    refuse(longs, "too long");
}
