/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_lanes.c - find the transports and devices that UCX uses to a peer */
#include "agent/worker/host/ucx_lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANES_MAX 16
#define WORD_MAX 64

/* Parse "tcp/eth0.0" or "rc_mlx5/mlx5_0:1.0". The result omits port 1 and the number
 * after the last dot, which is a path of the device. */
static json_t *way_of(const char *resource, size_t len)
{
    const char *slash = memchr(resource, '/', len);
    char transport[WORD_MAX], device[WORD_MAX];
    size_t first = slash ? (size_t)(slash - resource) : 0;

    if (first == 0 || first >= WORD_MAX || len - first >= WORD_MAX)
        return NULL;
    snprintf(transport, sizeof(transport), "%.*s", (int)first, resource);
    snprintf(device, sizeof(device), "%.*s", (int)(len - first - 1), slash + 1);
    char *dot = strrchr(device, '.');
    if (dot && strspn(dot + 1, "0123456789") == strlen(dot + 1))
        *dot = '\0';
    char *port = strstr(device, ":1");
    if (port && port[2] == '\0')
        *port = '\0';
    return json_pack("{s:o, s:s}", "via", json_sprintf("ucx/%s", transport), "name",
                     device);
}

/* Parse "# lane[0]: 1:tcp/lo.0 md[1] -> md[1]/tcp/sysdev[255] am am_bw#0 wireup". NULL if
 * the line does not describe a lane, or if streams do not use the lane. */
static json_t *lane_of(const char *line, size_t len)
{
    char text[256];
    char *end;

    snprintf(text, sizeof(text), "%.*s", (int)(len < 255 ? len : 255), line);
    const char *lane = strstr(text, "lane["), *at = lane ? strstr(lane, "]:") : NULL;
    if (!at || !strstr(at, " am"))
        return NULL;
    strtol(at + 2, &end, 10);
    return *end == ':' ? way_of(end + 1, strcspn(end + 1, " ")) : NULL;
}

json_t *ucx_lanes(const char *text)
{
    json_t *ways = json_array();

    while (*text && json_array_size(ways) < LANES_MAX) {
        size_t len = strcspn(text, "\n");
        json_t *way = lane_of(text, len);
        if (way)
            json_array_append_new(ways, way);
        text += len + (text[len] == '\n');
    }
    if (json_array_size(ways) == 0)
        json_array_append_new(ways, json_pack("{s:s}", "via", "ucx"));
    return ways;
}
