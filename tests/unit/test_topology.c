/* test_topology.c - whether nodes are alike by what NCCL wrote of them: faults that were
 * put in are named, and what is each node's own is none. The nodes are made from the form
 * that NVIDIA/nccl, src/graph/xml.cc writes; two files are real. */
#include "common/base/json_util.h"
#include "server/analysis/topology.h"
#include "server/analysis/topology_read.h"
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

TEST(the_odd_node_is_named_with_what_differs)
{
    struct made narrow = healthy, few = healthy, moved = healthy, lacks = healthy;

    narrow.width = 8;
    check(16, narrow, "differs",
          "identical on 15 of 16; node-16 differs: GPU 1 (0000:21:00.0) PCIe at 32 GT/s "
          "x8, others 32 GT/s x16");
    few.links = 17;
    check(3, few, "differs",
          "2 3 node-3 GPU 0 (0000:13:00.0) NVLinks 17 NVSwitch, 18 NVSwitch");
    lacks.lacks = true;
    check(3, lacks, "differs", "2 3 node-3 no mlx5_1");
    moved.socket = 1;
    check(3, moved, "differs",
          "2 3 node-3 mlx5_1 (0000:1b:00.0) on socket 1, others socket 0; mlx5_1 "
          "(0000:1b:00.0) switches above it none, others 32 GT/s x16");
}

TEST(of_two_that_differ_none_is_the_odd_one)
{
    struct made narrow = healthy;

    narrow.width = 4;
    check(2, narrow, "differs",
          "2 kinds of topology on 2 nodes; node-2 differs: GPU 1 (0000:13:00.0) PCIe at "
          "32 GT/s x4, node-1 32 GT/s x16");
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
    const json_t *parts = json_object_get(
        json_object_get(json_array_get(json_object_get(judged, "kinds"), 0), "tree"),
        "parts");

    assert_int_equal(json_array_size(parts), 2);
    assert_mentions(json_get_str(json_object_get(judged, "verdict"), "sentence", ""),
                    "2 2 b no mlx5_1; no socket 1; no mlx5_3");
    json_decref(judged);
    free(text);
    free(other);
}

static void refuse(const char *xml, const char *why)
{
    struct error err = {ERROR_NONE, ""};

    assert_null(topology_read(xml, strlen(xml), &err));
    if (!strstr(err.text, why))
        fail_msg("'%s' lacks '%s'", err.text, why);
}

TEST(what_is_no_topology_is_refused)
{
    char deep[4096] = "", longs[600] = "<system><cpu numaid=\"";

    refuse("", "no XML: no element found, line 1");
    refuse("<system><cpu></system>", "mismatched tag");
    refuse("<graphs version=\"1\"/>", "no topology of NCCL's");
    refuse("<system version=\"1\"/>", "no CPU socket");
    refuse("<!DOCTYPE s [<!ENTITY a \"x\"><!ENTITY b \"&a;&a;\">]><system>&b;</system>",
           "it has a document type");
    for (int i = 0; i < 40; i++)
        strcat(deep, "<system>");
    refuse(deep, "too many parts");
    memset(longs + strlen(longs), 'x', 300);
    strcat(longs, "\"/></system>");
    refuse(longs, "too long");
}
