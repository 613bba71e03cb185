/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_setting.c - read NCCL's variables as NCCL will read them */
#include "agent/worker/nccl/nccl_setting.h"

#include <stdlib.h>

#include "common/ncclog/nccl_conf.h"

const char *nccl_setting(const char *name, char *value, size_t size)
{
    const char *text = getenv(name);

    if (text)
        return text;
    return nccl_conf_find(getenv("NCCL_CONF_FILE"), getenv("HOME"), name, value, size)
               ? value
               : NULL;
}

int nccl_setting_default(const char *name, const char *value)
{
    char now[32];

    return nccl_setting(name, now, sizeof(now)) ? 0 : setenv(name, value, 1);
}

int nccl_setting_log(void)
{
    char value[32];

    return nccl_setting("NCCL_DEBUG", value, sizeof(value))
               ? 0
               : setenv("NCCL_DEBUG", "INFO", 1) ||
                     setenv("NCCL_DEBUG_SUBSYS", "INIT,BOOTSTRAP,ENV,NET", 0);
}
