/* SPDX-License-Identifier: Apache-2.0 */
/* comms.c - assigns log lines to the communicators of a process */
#include "common/ncclog/comms.h"
#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ncclog_comm *add(struct ncclog *log)
{
    if (log->n_comms == NCCLOG_COMMS_MAX)
        return NULL;
    log->comms =
        memory_resized(log->comms, log->n_comms + 1, sizeof(*log->comms), "NCCL's log");
    log->now = log->n_comms++;
    log->comms[log->now] = (struct ncclog_comm){.rank = -1,
                                                .nodes = -1,
                                                .local_ranks = -1,
                                                .channels = {-1, -1, -1},
                                                .ring_gdr = -1,
                                                .init_s = -1.0};
    return &log->comms[log->now];
}

static struct ncclog_comm *find(const struct ncclog *log, const char *id)
{
    for (size_t i = log->n_comms; i > 0; i--)
        if (strcmp(log->comms[i - 1].id, id) == 0)
            return &log->comms[i - 1];
    return NULL;
}

const struct ncclog_comm *ncclog_comm_at(const struct ncclog *log, const char *id)
{
    return find(log, id);
}

/* Return true if a line describes this communicator. NCCL reuses pointers of destroyed
 * communicators, so compare the other values too. */
static bool is_same(const struct ncclog_comm *comm, const char *name, long rank, long n)
{
    return comm->rank == rank && comm->n == n &&
           (!name[0] || !comm->name[0] || strcmp(comm->name, name) == 0);
}

struct ncclog_comm *ncclog_turn_to(struct ncclog *log, const char *id, const char *name,
                                   long rank, long n)
{
    struct ncclog_comm *comm = find(log, id);

    if (rank < 0 || rank >= n || n > NCCLOG_RANKS_MAX)
        return NULL;
    if (!comm || !is_same(comm, name, rank, n)) {
        /* Lines before the first named communicator belong to that communicator. */
        comm = log->n_comms == 1 && !log->comms[0].id[0] ? &log->comms[0] : add(log);
        if (!comm) {
            log->n_comms_left_out += strcmp(log->left_out, id) != 0;
            snprintf(log->left_out, sizeof(log->left_out), "%s", id);
            return NULL;
        }
        snprintf(comm->id, sizeof(comm->id), "%s", id);
        comm->rank = rank;
        comm->n = n;
    }
    if (name[0])
        snprintf(comm->name, sizeof(comm->name), "%s", name);
    log->left_out[0] = '\0';
    log->now = (size_t)(comm - log->comms);
    return comm;
}

struct ncclog_comm *ncclog_now(struct ncclog *log)
{
    if (log->left_out[0])
        return NULL;
    return log->n_comms > 0 ? &log->comms[log->now] : add(log);
}

static int fit_of(const struct ncclog_comm *comm, long own, long peer, bool is_net)
{
    bool is_odd = is_net ? comm->nodes == 1 : comm->local_ranks == 1;

    if (comm->rank != own || peer >= comm->n)
        return 0;
    return is_odd ? 1 : 2;
}

static struct ncclog_comm *best_fit(struct ncclog *log, long own, long peer, bool is_net)
{
    struct ncclog_comm *best = NULL;
    int best_fit = 0, n = 0;

    for (size_t i = 0; i < log->n_comms; i++) {
        struct ncclog_comm *comm = &log->comms[i];
        int fit = fit_of(comm, own, peer, is_net);

        if (fit == 0 || fit < best_fit)
            continue;
        n = fit > best_fit ? 1 : n + 1;
        if (fit > best_fit || i == log->now ||
            (best != &log->comms[log->now] && comm->n > best->n))
            best = comm;
        best_fit = fit;
    }
    log->n_ambiguous += n > 1;
    return best;
}

struct ncclog_comm *ncclog_comm_of_link(struct ncclog *log, long own, long peer,
                                        bool is_net)
{
    struct ncclog_comm *comm;

    log->n_links++;
    comm = log->n_comms < 2 || log->left_out[0] ? ncclog_now(log)
                                                : best_fit(log, own, peer, is_net);
    log->n_unplaced += !comm;
    if (!comm)
        return NULL;
    if (comm->rank < 0)
        comm->rank = own;
    log->now = (size_t)(comm - log->comms);
    return comm;
}

/* Rank communicators by the information about them: communicators with known transports
 * first, and among these, communicators that span several nodes. */
static int weight_of(const struct ncclog_comm *comm)
{
    return comm->n_ways == 0 ? 0 : comm->nodes == 1 ? 1 : 2;
}

const struct ncclog_comm *ncclog_main(const struct ncclog *log)
{
    const struct ncclog_comm *best = NULL;

    for (size_t i = 0; i < log->n_comms; i++) {
        const struct ncclog_comm *comm = &log->comms[i];
        int more = best ? weight_of(comm) - weight_of(best) : 1;

        if (more > 0 || (more == 0 && comm->n > best->n))
            best = comm;
    }
    return best;
}

void ncclog_release_comms(struct ncclog *log)
{
    for (size_t i = 0; i < log->n_comms; i++) {
        struct ncclog_comm *comm = &log->comms[i];

        for (size_t k = 0; k < comm->n_ways; k++) {
            free(comm->ways[k].to.bits);
            free(comm->ways[k].from.bits);
        }
        free(comm->ways);
    }
    free(log->comms);
    log->comms = NULL;
    log->n_comms = 0;
}
