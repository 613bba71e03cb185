/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_differences.c - in what two inventories differ */
#include "server/analysis/json_differences.h"
#include "tests/unit/test.h"

static void check(const char *base, const char *head, const char *wanted)
{
    json_t *left = json_loads(base, 0, NULL), *right = json_loads(head, 0, NULL);
    json_t *list = json_differences(left, right);
    char *text = json_dumps(list, JSON_COMPACT);

    assert_string_equal(text, wanted);
    free(text);
    json_decref(list);
    json_decref(left);
    json_decref(right);
}

TEST(differences_have_paths)
{
    check("{\"a\":{\"b\":1,\"c\":[1]}}", "{\"a\":{\"b\":1,\"c\":[1]}}", "[]");
    check("{\"a\":{\"b\":1}}", "{\"a\":{\"b\":2},\"d\":null}",
          "[{\"what\":\"a.b\",\"base\":1,\"head\":2}]");
    check("{\"rdma\":[{\"name\":\"a\",\"up\":1},{\"name\":\"b\"}]}",
          "{\"rdma\":[{\"name\":\"b\"},{\"name\":\"a\",\"up\":0},{\"name\":\"c\"}]}",
          "[{\"what\":\"rdma.a.up\",\"base\":1,\"head\":0},"
          "{\"what\":\"rdma.c\",\"base\":null,\"head\":{\"name\":\"c\"}}]");
}

TEST(objects_of_one_name_are_told_apart_by_another)
{
    check("[{\"name\":\"H\",\"pci\":\"1\",\"w\":16},{\"name\":\"H\",\"pci\":\"2\"}]",
          "[{\"name\":\"H\",\"pci\":\"1\",\"w\":8},{\"name\":\"H\",\"pci\":\"2\"}]",
          "[{\"what\":\"1.w\",\"base\":16,\"head\":8}]");
    check("[1]", "[2]", "[{\"what\":\"\",\"base\":[1],\"head\":[2]}]");
}
