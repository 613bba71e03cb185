/* SPDX-License-Identifier: Apache-2.0 */
/* ports.h - how many bytes the network ports of this machine have carried so far
 *
 * RDMA ports from /sys/class/infiniband: what RDMA moves shows there and in no network
 * device. Network devices from /proc/net/dev, one file that follows the network
 * namespace, which a mounted /sys need not do. Not counted: `lo`, and where the machine
 * has devices of its own (or a virtual machine's) those that stand upon them, such as
 * bridges, bonds and VLANs, whose bytes are these devices' too. */
#ifndef RINGBENCH_AGENT_MACHINE_PORTS_H
#define RINGBENCH_AGENT_MACHINE_PORTS_H

#include <stddef.h>
#include <stdint.h>

#define PORTS_MAX 48 /* more are not looked at: RDMA first */
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
    int fds[2];    /* sent, received; of network devices -1 */
    uint64_t unit; /* bytes that it counts by */
    int below;     /* the InfiniBand port that counts these bytes as well, or -1 */
};

struct ports {
    int n, net_fd;
    struct port of[PORTS_MAX];
    char *text; /* of /proc/net/dev */
};

/* What has come to it; 0 where it is less. */
struct port_bytes port_bytes_since(struct port_bytes before, struct port_bytes now);

const char *port_kind_name(enum port_kind kind);

/* Find them and keep their files open; `root` is put before each path, "" for this host.
 * Without memory or files there are none. */
void ports_open(struct ports *ports, const char *root);
void ports_close(struct ports *ports);

/* What each has carried; 0 where it cannot be read. */
void ports_read(struct ports *ports, struct port_bytes bytes[PORTS_MAX]);

/* What each has carried since `before`, into `bytes`: what they have carried now. What
 * IP moves over InfiniBand is the network device's alone. */
void ports_since(const struct ports *ports, const struct port_bytes before[PORTS_MAX],
                 struct port_bytes bytes[PORTS_MAX]);

#endif
