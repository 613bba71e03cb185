/* SPDX-License-Identifier: Apache-2.0 */
/* batch_group.c - recognizes the names of node groups that batch jobs create */
#include "common/spec/batch_group.h"

#include <stddef.h>
#include <string.h>

bool job_group(const char *group)
{
    return group && strncmp(group, JOB_GROUP_PREFIX, strlen(JOB_GROUP_PREFIX)) == 0;
}

bool batch_group(const char *group)
{
    static const char *const prefixes[] = {"slurm-", "pbs-", "lsf-", "k8s-"};

    for (size_t i = 0; group && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(group, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return job_group(group);
}
