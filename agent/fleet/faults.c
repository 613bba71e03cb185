/* faults.c - what is to go wrong in a played fleet */
#include "agent/fleet/faults.h"

#include <stdlib.h>
#include <string.h>

#include "agent/worker/sim/sim_params.h"

static const struct {
    const char *name;
    const char *variable; /* of the model; NULL: it is played beside it */
    bool has_value;
} kinds[] = {
    [PLAYED_SLOW_NODE] = {"slow_node", "SIM_SLOW_NODE", true},
    [PLAYED_SLOW_LINK] = {"slow_link", "SIM_SLOW_LINK", true},
    [PLAYED_WRONG_INTERFACE] = {"wrong_interface", "SIM_WRONG_INTERFACE", true},
    [PLAYED_SLOW_RACK] = {"slow_rack", NULL, true},
    [PLAYED_FLAPPING] = {"flapping", NULL, true},
    [PLAYED_DYING] = {"dying", NULL, true},
    [PLAYED_HANG] = {"hang", NULL, true},
    [PLAYED_LATE] = {"late", NULL, true},
    [PLAYED_VERSION_SKEW] = {"version_skew", NULL, false},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int read_where(struct played_fault *fault, const char *text, struct error *err)
{
    const char *rest = fault->item;
    struct sim_item item = {fault->item, strlen(fault->item), 0};
    bool has_value = kinds[fault->what].has_value;

    if (item.name_len == 0 || (has_value && (sim_list_next(&rest, &item) != 1 || *rest)))
        return error_set(err, ERROR_INVALID, "--fault %.80s: must be %s=NAME%s", text,
                         kinds[fault->what].name,
                         has_value ? ":VALUE, with a value above 0" : "");
    fault->where = item.name;
    fault->where_len = item.name_len;
    fault->value = item.value;
    return 0;
}

static int read_one(struct played_fault *fault, const char *text, struct error *err)
{
    size_t len = strcspn(text, "=");

    for (size_t i = 0; i < KINDS && text[len] == '='; i++) {
        if (strlen(kinds[i].name) != len || memcmp(kinds[i].name, text, len) != 0)
            continue;
        fault->what = (enum fault_what)i;
        fault->item = text + len + 1;
        return read_where(fault, text, err);
    }
    return error_set(err, ERROR_INVALID,
                     "--fault %.80s: begins with none of slow_node=, slow_link=, "
                     "wrong_interface=, slow_rack=, flapping=, dying=, hang=, "
                     "late=, version_skew=",
                     text);
}

int faults_read(const struct option_list *options, struct played_faults *out,
                struct error *err)
{
    out->n = 0;
    out->list = calloc(options->count + 1, sizeof(*out->list));
    if (!out->list)
        return error_set(err, ERROR_MEMORY, "out of memory");
    for (; out->n < options->count; out->n++)
        if (read_one(&out->list[out->n], options->items[out->n], err))
            return -1;
    return 0;
}

void faults_release(struct played_faults *faults)
{
    free(faults->list);
    memset(faults, 0, sizeof(*faults));
}

const struct played_fault *faults_find(const struct played_faults *faults,
                                       enum fault_what what, const char *where)
{
    for (size_t i = 0; i < faults->n; i++) {
        const struct played_fault *fault = &faults->list[i];

        if (fault->what == what && strlen(where) == fault->where_len &&
            memcmp(where, fault->where, fault->where_len) == 0)
            return fault;
    }
    return NULL;
}

const char *faults_variable(enum fault_what what)
{
    return kinds[what].variable;
}

int faults_list(const struct played_faults *faults, enum fault_what what, struct buf *out)
{
    for (size_t i = 0; i < faults->n; i++)
        if (faults->list[i].what == what &&
            (buf_append_str(out, out->len > 0 ? "," : "") ||
             buf_append_str(out, faults->list[i].item)))
            return -1;
    return 0;
}
