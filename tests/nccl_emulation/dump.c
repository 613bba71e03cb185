/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c - the topology file that the emulated NCCL writes, in the format of NCCL's
 * src/graph/xml.cc: two sockets, each with a PCIe switch, GPUs and a NIC */
#include "tests/nccl_emulation/dump.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/nccl_emulation/settings.h"

static bool copy(const char *variable, FILE *out)
{
    const char *path = getenv(variable);
    FILE *in = path ? fopen(path, "re") : NULL;

    if (!in)
        return false;
    for (int c = getc(in); c != EOF; c = getc(in))
        putc(c, out);
    fclose(in);
    return true;
}

static void put_gpu(FILE *out, long gpu, int rank)
{
    bool is_slow = gpu == 0 && emulation_setting("slow_link", 0);

    fprintf(
        out,
        "      <pci busid=\"0000:%lx8:00.0\" class=\"0x030200\" vendor=\"0x10de\" "
        "device=\"0x2330\" subsystem_vendor=\"0x10de\" subsystem_device=\"0x16c1\" "
        "link_speed=\"%s\" link_width=\"%d\">\n"
        "        <gpu dev=\"%ld\" sm=\"90\" rank=\"%ld\" gdr=\"1\">\n"
        "          <nvlink target=\"0000:05:00.0\" count=\"18\" tclass=\"0x068000\"/>\n"
        "        </gpu>\n"
        "      </pci>\n",
        gpu + 1, is_slow ? "8.0 GT/s PCIe" : "32.0 GT/s PCIe", is_slow ? 8 : 16, gpu,
        rank + gpu);
}

static void put_socket(FILE *out, int socket, int rank)
{
    long gpus = emulation_setting("devices", 2);

    fprintf(out,
            "  <cpu host_hash=\"0x%lx\" numaid=\"%d\" affinity=\"0000000f\" "
            "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">\n"
            "    <pci busid=\"0000:%d0:01.0\" class=\"0x060400\" vendor=\"0x1000\" "
            "device=\"0xc030\" subsystem_vendor=\"0x1000\" subsystem_device=\"0x100b\" "
            "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n",
            0x5eedUL + (unsigned long)rank, socket, socket + 1);
    for (long gpu = socket; gpu < gpus; gpu += 2)
        put_gpu(out, gpu, rank);
    fprintf(out,
            "      <pci busid=\"0000:%da:00.0\" class=\"0x020700\" vendor=\"0x15b3\" "
            "device=\"0x1021\" subsystem_vendor=\"0x15b3\" subsystem_device=\"0x0023\" "
            "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n"
            "        <nic>\n"
            "          <net name=\"mlx5_%d\" dev=\"%d\" latency=\"0.000000\" "
            "speed=\"400000\" port=\"1\" guid=\"0x%x\" maxconn=\"131072\" gdr=\"1\"/>\n"
            "        </nic>\n"
            "      </pci>\n"
            "    </pci>\n"
            "  </cpu>\n",
            socket + 1, socket, socket, 0xabc000 + rank * 16 + socket);
}

static FILE *open_dump(const char *file, const char *writer, int rank)
{
    const char *path = getenv(file), *number = getenv(writer);

    return path && rank == (number ? atoi(number) : 0) ? fopen(path, "we") : NULL;
}

void dump_topology(int rank)
{
    FILE *topo = open_dump("NCCL_TOPO_DUMP_FILE", "NCCL_TOPO_DUMP_FILE_RANK", rank);
    FILE *graph = open_dump("NCCL_GRAPH_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE_RANK", rank);

    if (topo && !copy("NCCL_TOPO_FILE", topo)) {
        fputs("<system version=\"1\">\n", topo);
        put_socket(topo, 0, rank);
        put_socket(topo, 1, rank);
        fputs("</system>\n", topo);
    }
    if (graph && !copy("NCCL_GRAPH_FILE", graph))
        fputs("<graphs version=\"1\">\n"
              "  <graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"1\" "
              "speedintra=\"48\" speedinter=\"48\" latencyinter=\"0\" typeintra=\"NVL\" "
              "typeinter=\"PIX\" samechannels=\"1\"/>\n"
              "</graphs>\n",
              graph);
    if (topo)
        fclose(topo);
    if (graph)
        fclose(graph);
}
