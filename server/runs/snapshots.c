/* snapshots.c - what a run's nodes said of themselves when it was placed */
#include "server/runs/snapshots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/runs/active_run.h"
#include "server/runs/run.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store_artifacts.h"

/* Of a write: 100 us for a text, which is made once, and 5 for a node whose text is
 * there. The next write follows when this one is on the disk, so no turn of the loop
 * takes long. */
#define WRITE_TEXTS 8
#define WRITE_NODES 256

struct snapshots {
    struct scheduler *scheduler; /* held */
    char run[ID_RUN_LENGTH + 1];
    char **names;
    size_t n, next;
};

static void snapshots_free(struct snapshots *snapshots)
{
    for (size_t i = 0; i < snapshots->n; i++)
        free(snapshots->names[i]);
    free(snapshots->names);
    free(snapshots);
}

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

    if (is_known || (text && digest_text(text, node->kept) == 0))
        store_write_artifact(write, &item);
    free(text);
    return !is_known;
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events);

static void write_some(struct snapshots *snapshots)
{
    struct store_write *write = store_write_create();
    size_t texts = 0;

    for (size_t k = 0; write && k < WRITE_NODES && texts < WRITE_TEXTS; k++) {
        struct node *node;

        if (snapshots->next == snapshots->n)
            break;
        node =
            node_find(&snapshots->scheduler->nodes, snapshots->names[snapshots->next++]);
        texts += node && keep(write, snapshots->run, node);
    }
    store_submit(snapshots->scheduler->config.store, write, true, on_written, snapshots);
}

/* A run that was deleted meanwhile has no row. */
static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct snapshots *snapshots = arg;
    struct scheduler *scheduler = snapshots->scheduler;

    (void)events;
    (void)n_events;
    if (!err && snapshots->next < snapshots->n) {
        write_some(snapshots);
        return;
    }
    snapshots_free(snapshots);
    scheduler_release(scheduler);
}

void snapshots_keep(const struct active_run *active, const struct placement *placement)
{
    struct snapshots *snapshots = calloc(1, sizeof(*snapshots));
    char **names = calloc(placement->n_nodes + 1, sizeof(char *));

    if (!snapshots || !names) {
        free(snapshots);
        free(names);
        return;
    }
    snapshots->names = names;
    snapshots->scheduler = active->scheduler;
    snprintf(snapshots->run, sizeof(snapshots->run), "%s", active->run->id);
    while (snapshots->n < placement->n_nodes &&
           (names[snapshots->n] = strdup(placement->nodes[snapshots->n]->name)))
        snapshots->n++;
    scheduler_hold(active->scheduler);
    write_some(snapshots);
}
