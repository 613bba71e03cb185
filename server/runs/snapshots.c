/* snapshots.c - what a run's nodes said of themselves when it was placed */
#include "server/runs/snapshots.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "server/runs/active_run.h"
#include "server/runs/run.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store_artifacts.h"

/* Of a write: 100 us for a text, which is made once, and 5 for a node whose text is
 * there. The next write follows when this one is on the disk, so no turn of the loop
 * takes long. */
#define WRITE_TEXTS 8
#define WRITE_NODES 256

/* A run's nodes on their way to the disk. */
struct snapshots {
    struct active_run *active; /* referred to by its `pending` */
    size_t next;               /* of its nodes */
};

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
    if (is_known || digest_text(text, node->kept) == 0)
        store_write_artifact(write, &item);
    free(text);
    return !is_known;
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events);

static void write_some(struct snapshots *snapshots)
{
    const struct run *run = snapshots->active->run;
    struct scheduler *scheduler = snapshots->active->scheduler;
    size_t end = snapshots->next + WRITE_NODES, texts = 0;
    struct store_write *write = store_write_create();

    while (snapshots->next < run->pool.n && snapshots->next < end &&
           texts < WRITE_TEXTS) {
        const char *name = run->pool.items[snapshots->next++].name;
        struct node *node = node_find(&scheduler->nodes, name);

        texts += node && keep(write, run->id, node);
    }
    store_submit(scheduler->config.store, write, true, on_written, snapshots);
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct snapshots *snapshots = arg;
    struct active_run *active = snapshots->active;
    struct scheduler *scheduler = active->scheduler;

    (void)events;
    (void)n_events;
    if (!err && snapshots->next < active->run->pool.n) {
        write_some(snapshots);
        return;
    }
    free(snapshots);
    active_run_unref(active);
    scheduler_release(scheduler);
}

void snapshots_keep(struct active_run *active)
{
    struct snapshots *snapshots = memory_zeroed(1, sizeof(*snapshots), "an inventory");

    snapshots->active = active;
    active->pending++;
    scheduler_hold(active->scheduler);
    write_some(snapshots);
}
