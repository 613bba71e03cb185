/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_topology.c - the topology that a node sends, alone and held against itself */
#include <stdint.h>
#include <stdlib.h>

#include "server/analysis/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *xml = (const char *)data;
    const struct topology_text texts[] = {
        {"a", xml, size}, {"b", xml, size}, {"c", xml, size / 2}};
    json_t *judged = topology_judge(texts, 3, NULL);
    char *text = judged ? json_dumps(judged, JSON_COMPACT) : NULL;

    if (judged && !text)
        abort();
    free(text);
    json_decref(judged);
    return 0;
}
