/* SPDX-License-Identifier: Apache-2.0 */
/* spec_names.c - defines names that the fields of several tables share */
#include "common/spec/collective.h"
#include "common/spec/run_spec_parts.h"

static const char *collective_name_at(int i)
{
    return collective_name((enum collective_kind)i);
}

static const char *dtype_name_at(int i)
{
    return dtype_name((enum dtype)i);
}

static const char *redop_name_at(int i)
{
    return redop_name((enum redop)i);
}

const struct spec_names spec_collective_names = {collective_lookup, collective_name_at,
                                                 COLLECTIVE_COUNT};
const struct spec_names spec_dtype_names = {dtype_lookup, dtype_name_at, DTYPE_COUNT};
const struct spec_names spec_redop_names = {redop_lookup, redop_name_at, REDOP_COUNT};
