/* faults.h - what is to go wrong in a played fleet: --fault WHAT=WHERE:VALUE */
#ifndef RINGBENCH_AGENT_FLEET_FAULTS_H
#define RINGBENCH_AGENT_FLEET_FAULTS_H

#include <stdbool.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/base/options.h"

enum fault_what {
    PLAYED_SLOW_NODE, /* of the first three: as SIM_SLOW_NODE and so on have it */
    PLAYED_SLOW_LINK,
    PLAYED_WRONG_INTERFACE,
    PLAYED_SLOW_RACK, /* a factor on what the rack exchanges with others */
    PLAYED_FLAPPING,  /* dies every so many seconds, and comes back */
    PLAYED_DYING,     /* the same, once */
    PLAYED_HANG,      /* a rank, or a node's first one, at operation number VALUE */
    PLAYED_LATE,      /* the same, to every one, by so many us */
    PLAYED_VERSION_SKEW
};

struct played_fault {
    enum fault_what what;
    const char *where; /* a node, a link or a rack; borrowed, not terminated */
    size_t where_len;
    double value;
    const char *item; /* "WHERE:VALUE", borrowed */
};

struct played_faults {
    struct played_fault *list;
    size_t n;
};

/* Read the options, which must outlive *out. ERROR_INVALID names the one that is wrong.
 */
int faults_read(const struct option_list *options, struct played_faults *out,
                struct error *err);
void faults_release(struct played_faults *faults);

/* The first of that kind at that place, or NULL. */
const struct played_fault *faults_find(const struct played_faults *faults,
                                       enum fault_what what, const char *where);

/* The variable of a run's env by which the simulation's model is told of such faults, or
 * NULL; and the list of all of that kind, appended to *out. */
const char *faults_variable(enum fault_what what);
int faults_list(const struct played_faults *faults, enum fault_what what,
                struct buf *out);

#endif
