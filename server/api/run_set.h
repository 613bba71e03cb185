/* run_set.h - several runs with what each of their cases has measured */
#ifndef RINGBENCH_SERVER_API_RUN_SET_H
#define RINGBENCH_SERVER_API_RUN_SET_H

#include "common/base/ids.h"
#include "server/analysis/compare_cases.h"
#include "server/api/api.h"

#define RUN_SET_MAX 128

/* Runs once, on the loop, perhaps at once; err: of the run that could not be read, else
 * NULL. */
typedef void run_set_done(void *arg, const struct error *err);

struct run_set {
    struct run_set_part {
        char id[ID_RUN_LENGTH + 1];
    } parts[RUN_SET_MAX];
    struct compare_run runs[RUN_SET_MAX]; /* the same, once read; shared with nobody */
    size_t n, n_settled;
    struct api *api;
    run_set_done *done;
    void *arg;
};

/* Whether another set may be read: api->comparisons says how many are. Answers 503 if
 * not. */
bool run_set_may(const struct api *api, struct http_request *request);

/* The index of the run with this id, which is in the set once however often it is named;
 * there is room for RUN_SET_MAX, and ids are cut. */
size_t run_set_add(struct run_set *set, const char *id, size_t len);

/* Read all: the set stays where it is until `done`, and is not released before. */
void run_set_read(struct run_set *set, struct api *api, run_set_done *done, void *arg);
void run_set_release(struct run_set *set);

#endif
