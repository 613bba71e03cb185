/* SPDX-License-Identifier: Apache-2.0 */
/* ports.h - reads byte counters of this machine's network ports
 *
 * RDMA ports are in /sys/class/infiniband; network devices do not count RDMA traffic.
 * Network devices are in /proc/net/dev, which shows this process's network namespace; a
 * mounted /sys may show another. `lo` is not counted. If the machine has hardware
 * devices, virtual ones such as bridges, bonds and VLANs are not counted, because
 * hardware devices carry their bytes. */
#ifndef RINGBENCH_AGENT_MACHINE_PORTS_H
#define RINGBENCH_AGENT_MACHINE_PORTS_H

#include <stddef.h>
#include <stdint.h>

#define PORTS_MAX 48 /* further ports are ignored; RDMA ports come first */
#define PORT_NAME_MAX 32

enum port_kind { PORT_INFINIBAND, PORT_ROCE, PORT_EFA, PORT_NET, PORT_KINDS };

struct port_bytes {
    uint64_t sent, received;
};

struct port_name {
    uint32_t kind;
    char text[PORT_NAME_MAX]; /* "mlx5_0", "mlx5_1/2", "eth0" */
};

struct port {
    struct port_name name;
    int fds[2];    /* counters of sent and received bytes; -1 for network devices */
    uint64_t unit; /* bytes per count */
    int below;     /* index of the InfiniBand port that also counts these bytes, or -1 */
};

struct ports {
    int n, net_fd;
    struct port of[PORTS_MAX];
    char *text; /* buffer for /proc/net/dev */
};

const char *port_kind_name(enum port_kind kind);

/* Find the ports and keep their files open. `root` is the prefix of every path, "" for
 * this host. Finds no ports if memory or files are missing. */
void ports_open(struct ports *ports, const char *root);
void ports_close(struct ports *ports);

/* Read each port's counters; 0 for a counter that cannot be read. */
void ports_read(struct ports *ports, struct port_bytes bytes[PORTS_MAX]);

/* Replace the counters in `bytes` by their increase since `before`. Bytes of IP over
 * InfiniBand count only for the network device, not for its port. */
void ports_since(const struct ports *ports, const struct port_bytes before[PORTS_MAX],
                 struct port_bytes bytes[PORTS_MAX]);

#endif
