/* batch_group.c - names of node groups that batch jobs make */
#include "common/spec/batch_group.h"

#include <stddef.h>
#include <string.h>

bool batch_group(const char *group)
{
    static const char *const prefixes[] = {"slurm-", "pbs-", "lsf-", "k8s-", "job-"};

    for (size_t i = 0; group && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(group, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}
