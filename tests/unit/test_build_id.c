/* SPDX-License-Identifier: Apache-2.0 */
/* test_build_id.c - workers of a case must be of one build */
#include "agent/worker/bench/build_id.h"
#include "common/base/version.h"
#include "bench/rendezvous_stub.h"
#include "tests/unit/test.h"

static struct rendezvous_client *open_store(struct rendezvous_stub *stub)
{
    char port[16];
    struct error err = {0};
    struct rendezvous_client *store;

    assert_int_equal(rendezvous_stub_start(stub, NULL, 0), 0);
    snprintf(port, sizeof(port), "%d", stub->port);
    store = rendezvous_client_connect("127.0.0.1", port, 60000, NULL, &err);
    assert_non_null(store);
    return store;
}

TEST(the_same_build_agrees)
{
    struct rendezvous_stub stub;
    struct rendezvous_client *store = open_store(&stub);
    struct error err = {0};

    assert_int_equal(strlen(version_build()), 12);
    for (int rank = 0; rank < 3; rank++)
        assert_int_equal(build_id_agree(store, rank, "node-1", &err), 0);
    rendezvous_client_destroy(store);
    rendezvous_stub_stop(&stub);
}

TEST(another_build_is_refused_with_both)
{
    static const char first[] =
        "{\"build\":\"0123456789ab\",\"rank\":0,\"node\":\"node-1\"}";
    struct rendezvous_stub stub;
    struct rendezvous_client *store = open_store(&stub);
    struct error err = {0};

    assert_int_equal(
        rendezvous_client_set(store, "ringbench/build", first, strlen(first), &err), 0);
    assert_int_equal(build_id_agree(store, 2, "node-2", &err), -1);
    assert_non_null(strstr(err.text, "different builds: 0123456789ab on node-1"));
    assert_non_null(strstr(err.text, version_build()));
    assert_non_null(strstr(err.text, "on node-2"));
    rendezvous_client_destroy(store);
    rendezvous_stub_stop(&stub);
}
