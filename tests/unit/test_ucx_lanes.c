/* SPDX-License-Identifier: Apache-2.0 */
/* test_ucx_lanes.c - what UCX prints of its lanes, read */
#include "agent/worker/host/ucx_lanes.h"
#include "tests/unit/test.h"

#define HEAD "#\n# UCP endpoint \n#\n#               peer: <no debug data>\n"
#define AT "#                 lane["
#define MD " md[1]                -> md[1]/x/sysdev[255] "

TEST(lanes_that_streams_take_are_told)
{
    static const struct {
        const char *text, *ways;
    } cases[] = {
        /* As UCX 1.13.1 prints it. */
        {HEAD AT
         "0]:  1:tcp/lo.0" MD "am am_bw#0 keepalive wireup\n#\n"
         "#             stream_send: 0..<egr/short>..8185..<egr/zcopy>..(inf)\n#\n",
         "[{\"via\":\"ucx/tcp\",\"name\":\"lo\"}]"},
        {AT "0]:  3:sysv/memory.0" MD "am am_bw#0\n",
         "[{\"via\":\"ucx/sysv\",\"name\":\"memory\"}]"},
        {AT "0]:  5:rc_mlx5/mlx5_0:1.0" MD "am am_bw#0\n" AT
            "1]:  6:rc_mlx5/mlx5_1:2.1" MD "am_bw#1\n" AT "2]:  1:tcp/eth0.0" MD
            "wireup\n" AT "3]:  8:cma/memory.0" MD "rma_bw#0",
         "[{\"via\":\"ucx/rc_mlx5\",\"name\":\"mlx5_0\"},{\"via\":\"ucx/"
         "rc_mlx5\",\"name\":\"mlx5_1:2\"}]"},
        /* A VLAN's name has a dot of its own. */
        {AT "0]:  1:tcp/eth0.100.0" MD "am\n",
         "[{\"via\":\"ucx/tcp\",\"name\":\"eth0.100\"}]"},
        {"", "[{\"via\":\"ucx\"}]"},
        {"# UCP endpoint\n", "[{\"via\":\"ucx\"}]"},
        {AT "0]:  1:/.0 am\n" AT "1] am\n" AT "2]: tcp am\n" AT "3]: 1:tcp am",
         "[{\"via\":\"ucx\"}]"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *ways = ucx_lanes(cases[i].text);
        char *got = json_dumps(ways, JSON_COMPACT);

        assert_string_equal(got, cases[i].ways);
        free(got);
        json_decref(ways);
    }
}
