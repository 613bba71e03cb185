/* test_carried.c - which way the bytes went, in words */
#include "common/base/json_util.h"
#include "server/analysis/carried.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

static const char *node_of(const void *arg, int rank)
{
    static const char *const nodes[] = {"node-1", "node-2", "node-3"};

    (void)arg;
    return rank >= 0 && rank < 24 ? nodes[rank / 8] : NULL;
}

/* 1 GiB between the nodes, in each direction; bytes of ports are sent ones. */
#define ONE "'moved_bytes':1073741824,"
#define PORT(kind, name, gib)                                                            \
    "{'kind':'" kind "','name':'" name "','sent_bytes':" gib ",'received_bytes':" gib "}"

static const struct {
    const char *traffic, *answer, *names; /* each sentence is whole in one row */
} table[] = {
    {"'nodes':3,'way':'ring'," ONE
     "'share':1.02,'ports':[" PORT("net", "eth0", "1095216660") "]",
     "by_network", "eth0 carried 102 % of the 1.0 GiB that a ring moves between nodes"},
    {"'nodes':3,'way':'tree'," ONE
     "'share':0.98,'ports':[" PORT("infiniband", "mlx5_0", "526133493") "," PORT(
         "infiniband", "mlx5_1", "526133493") "]",
     "by_network", "InfiniBand (2 ports) 98 % 1.0 GiB tree"},
    {"'nodes':3,'way':'direct'," ONE "'share':1.0,'ports':[" PORT(
         "infiniband", "mlx5_0", "536870912") "," PORT("net", "eth0", "536870912") "]",
     "by_network", "InfiniBand (mlx5_0) 50 %, eth0 50 % 1.0 GiB that the call moves"},
    {"'nodes':3,'way':'ring'," ONE "'share':0.0004,'ports':[]", "another_way",
     "the network carried 0 % 1.0 GiB ring it went another way"},
    {"'nodes':2,'way':'ring'," ONE "'share':0.53,'share_if_tree':0.994,'ports':[" PORT(
         "roce", "mlx5_0", "569083166") "]",
     "partly", "RoCE (mlx5_0) 53 % 1.0 GiB ring (of what a tree moves, 99 %)"},
    {"'nodes':3,'way':'ring'," ONE "'share':0.7,'ports':[" PORT(
         "net", "eth0", "751619276") "],'deviating':[{'rank':16,'share':0.031}]",
     "partly", "eth0 70 % 1.0 GiB ring of its part, node-3 carried 3.1 %"},
    {"'nodes':3,'way':'ring'," ONE
     "'share':2.0,'ports':[" PORT("net", "eth0", "2147483648") "]",
     "by_network", "eth0 200 % 1.0 GiB ring others use it as well"},
    {"'nodes':1,'way':'ring'," ONE "'share':0.0,'nvlink_bytes':1073741824,'ports':[]",
     "within_nodes",
     "0 % 1.0 GiB ring ranks, which are on one host; NVLink carried 1.0 GiB"},
    {"'nodes':1,'way':'ring'," ONE "'share':0.0,'ports':[]", "within_nodes",
     "0 % 1.0 GiB ring one host"},
    {"'nodes':3,'way':'ring','ports':[]", "within_nodes",
     "nothing has to cross the network"},
    {"'nodes':3,'ports':[" PORT("net", "eth0", "1073741824") "]", "not_evaluated",
     "eth0 carried 2.0 GiB; not evaluated: how much the algorithm moves between nodes "
     "is not known"},
};

static json_t *row_of(const char *traffic, int size)
{
    char text[1024];
    json_t *row;

    snprintf(text, sizeof(text), "{'size':%d,'traffic':{%s}}", size, traffic);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    row = json_loads(text, 0, NULL);
    assert_non_null(row);
    return row;
}

TEST(each_way_has_its_words)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        json_t *row = row_of(table[i].traffic, 1 << 20), *verdict;
        json_t *traffic = carried_traffic(row, node_of, NULL);
        struct carried carried = {0};
        const char *sentence = json_get_str(traffic, "sentence", "");

        assert_mentions(sentence, table[i].names);
        json_object_set_new(row, "traffic", traffic);
        carried_note(&carried, row);
        verdict = carried_verdict(&carried, NULL);
        assert_string_equal(json_get_str(verdict, "answer", ""), table[i].answer);
        json_decref(verdict);
        carried_release(&carried);
        json_decref(row);
    }
}

TEST(the_run_is_judged_by_its_largest_row)
{
    struct carried carried = {0};
    json_t *verdict, *none = json_object();

    for (int i = 0; i < 3; i++) {
        static const int sizes[] = {1 << 21, 1 << 23, 1 << 20};
        static const size_t which[] = {0, 3, 0};
        json_t *row = row_of(table[which[i]].traffic, sizes[i]);

        json_object_set_new(row, "traffic", carried_traffic(row, node_of, NULL));
        carried_note(&carried, row);
        json_decref(row);
    }
    carried_note(&carried, none);
    verdict = carried_verdict(&carried, " (emulated)");
    assert_string_equal(json_get_str(verdict, "answer", ""), "another_way");
    assert_mentions(json_get_str(verdict, "sentence", ""),
                    "at 8M 0 % 1.0 GiB ring (emulated)");
    assert_int_equal(json_get_int(json_object_get(verdict, "evidence"), "rows", 0), 3);
    json_decref(verdict);
    carried_release(&carried);
    assert_null(carried_verdict(&carried, NULL));
    assert_null(carried_traffic(none, node_of, NULL));
    json_decref(none);
}
