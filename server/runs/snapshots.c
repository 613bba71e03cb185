/* snapshots.c - what a run's nodes said of themselves when it was placed */
#include "server/runs/snapshots.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "server/store/store.h"
#include "server/store/store_artifacts.h"

/* Of a write: 100 us for a text, which is made once, and 5 for a node whose text is
 * there. */
#define WRITE_TEXTS 8
#define WRITE_NODES 256

/* Whether its text had to be made. */
static bool keep(struct store_write *write, const char *run, struct node *node)
{
    bool is_known = node->kept[0] != '\0';
    char *text =
        is_known ? NULL : json_dumps(node->inventory, JSON_COMPACT | JSON_SORT_KEYS);
    const struct store_artifact item = {.run = run,
                                        .node = node->name,
                                        .name = STORE_INVENTORY,
                                        .digest = node->kept,
                                        .case_no = STORE_NO_CASE,
                                        .text = text};

    if (!is_known && !text)
        memory_out("an inventory");
    if (!is_known)
        digest_text(text, node->kept);
    store_write_artifact(write, &item);
    free(text);
    return !is_known;
}

bool snapshots_keep(struct store *store, const struct node_registry *nodes,
                    const struct run *run, size_t *next)
{
    size_t end = *next + WRITE_NODES, texts = 0;
    struct store_write *write = store_write_create();

    while (*next < run->pool.n && *next < end && texts < WRITE_TEXTS) {
        struct node *node = node_find(nodes, run->pool.items[(*next)++].name);

        texts += node && keep(write, run->id, node);
    }
    store_submit(store, write, true, NULL, NULL);
    return *next < run->pool.n;
}
