/* SPDX-License-Identifier: Apache-2.0 */
/* ports.c - reads byte counters of this machine's network ports */
#include "agent/machine/ports.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NET_MAX 16
#define TEXT_MAX ((size_t)128 << 10)
#define COLUMNS 16 /* of /proc/net/dev; the first is bytes received, the ninth sent */
#define COLUMN_SENT 8

static const char *const kind_names[PORT_KINDS] = {[PORT_INFINIBAND] = "infiniband",
                                                   [PORT_ROCE] = "roce",
                                                   [PORT_EFA] = "efa",
                                                   [PORT_NET] = "net"};

const char *port_kind_name(enum port_kind kind)
{
    return kind_names[kind];
}

static int open_below(const char *folder, const char *file)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path))
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns "" if the file cannot be read. */
static const char *read_text(int fd, char *text, size_t size)
{
    ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

static bool is_below(const char *folder, const char *file, const char *what)
{
    int fd = open_below(folder, file);
    char text[64];
    bool is = strstr(read_text(fd, text, sizeof(text)), what) != NULL;

    if (fd >= 0)
        close(fd);
    return is;
}

/* ---- RDMA ---- */

/* Opens both counters or none. */
static bool open_counters(const char *folder, const char *sent, const char *received,
                          struct port *port)
{
    port->fds[0] = open_below(folder, sent);
    port->fds[1] = open_below(folder, received);
    if (port->fds[0] >= 0 && port->fds[1] >= 0)
        return true;
    if (port->fds[0] >= 0)
        close(port->fds[0]);
    if (port->fds[1] >= 0)
        close(port->fds[1]);
    return false;
}

/* The IBTA's counters count units of four bytes. EFA provides its own counters. */
static bool open_rdma(const char *folder, struct port *port)
{
    if (open_counters(folder, "counters/port_xmit_data", "counters/port_rcv_data",
                      port)) {
        bool is_roce = is_below(folder, "link_layer", "Ethernet");

        port->name.kind = is_roce ? PORT_ROCE : PORT_INFINIBAND;
        port->unit = 4;
        return true;
    }
    port->name.kind = PORT_EFA;
    port->unit = 1;
    return open_counters(folder, "hw_counters/tx_bytes", "hw_counters/rx_bytes", port);
}

/* Derive a port's name from its folder. Port 2 in "/sys/class/infiniband/mlx5_1/ports/2"
 * is named "mlx5_1/2", and port 1 is named "mlx5_1". */
static void name_rdma(const char *folder, char name[PORT_NAME_MAX])
{
    const char *number = strrchr(folder, '/') + 1;
    const char *end = number - strlen("/ports/"), *begin = end;

    while (begin[-1] != '/')
        begin--;
    snprintf(name, PORT_NAME_MAX, "%.*s%s%s", (int)(end - begin), begin,
             strcmp(number, "1") != 0 ? "/" : "", strcmp(number, "1") != 0 ? number : "");
}

static void find_rdma(struct ports *ports, const char *root)
{
    char pattern[PATH_MAX];
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/sys/class/infiniband/*/ports/*", root);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && ports->n < PORTS_MAX - NET_MAX / 2;
             i++) {
            struct port *port = &ports->of[ports->n];

            port->below = -1;
            name_rdma(found.gl_pathv[i], port->name.text);
            ports->n += open_rdma(found.gl_pathv[i], port);
        }
    }
    globfree(&found);
}

/* ---- Network devices ---- */

/* /proc/net/dev may need several reads. */
static void read_net(struct ports *ports)
{
    size_t len = 0;
    ssize_t n = 0;

    while (ports->net_fd >= 0 && len < TEXT_MAX - 1 &&
           (n = pread(ports->net_fd, ports->text + len, TEXT_MAX - 1 - len, (off_t)len)) >
               0)
        len += (size_t)n;
    ports->text[len] = '\0';
}

/* Parse the next device's line. Returns its name, with the text after the colon in
 * *numbers; NULL at the end. */
static char *next_device(char **at, char **numbers)
{
    while (*at && **at) {
        char *line = *at, *end = strchr(line, '\n'), *colon;

        if (end)
            *end = '\0';
        *at = end ? end + 1 : NULL;
        colon = strrchr(line, ':');
        if (!colon)
            continue;
        *colon = '\0';
        *numbers = colon + 1;
        return line + strspn(line, " ");
    }
    return NULL;
}

static void parse_device(char *numbers, struct port_bytes *bytes)
{
    uint64_t columns[COLUMNS] = {0};

    for (int i = 0; i < COLUMNS; i++)
        columns[i] = strtoull(numbers, &numbers, 10);
    *bytes = (struct port_bytes){.sent = columns[COLUMN_SENT], .received = columns[0]};
}

static bool has_path(const char *root, const char *folder, const char *name,
                     const char *more, const char *last)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/sys/class/%s/%.*s/device%s%s", root, folder,
                    (int)strcspn(name, "/"), name, more, last) < (int)sizeof(path) &&
           access(path, F_OK) == 0;
}

/* True for hardware, also for hardware of a virtual machine. */
static bool is_own(const char *root, const char *name)
{
    return has_path(root, "net", name, "", "");
}

/* The InfiniBand port that carries a device of IP over InfiniBand, or -1. */
static int below_of(const struct ports *ports, const char *root, const char *name)
{
    for (int i = 0; i < ports->n; i++) {
        const struct port_name *port = &ports->of[i].name;

        if (port->kind == PORT_INFINIBAND &&
            has_path(root, "infiniband", port->text, "/net/", name))
            return i;
    }
    return -1;
}

static void add_device(struct ports *ports, const char *root, const char *name)
{
    struct port *port = &ports->of[ports->n];

    if (ports->n == PORTS_MAX || strlen(name) >= PORT_NAME_MAX)
        return;
    *port = (struct port){.name.kind = PORT_NET, .fds = {-1, -1}, .unit = 1};
    memcpy(port->name.text, name, strlen(name) + 1);
    port->below = below_of(ports, root, name);
    ports->n++;
}

static int count_own(struct ports *ports, const char *root)
{
    char *at = ports->text, *name, *numbers;
    int n = 0;

    read_net(ports);
    while ((name = next_device(&at, &numbers)) != NULL)
        n += is_own(root, name);
    return n;
}

static void find_devices(struct ports *ports, const char *root)
{
    bool has_own = count_own(ports, root) > 0;
    char *at = ports->text, *name, *numbers;
    int most = ports->n + NET_MAX;

    read_net(ports);
    while ((name = next_device(&at, &numbers)) != NULL && ports->n < most)
        if (has_own ? is_own(root, name) : strcmp(name, "lo") != 0)
            add_device(ports, root, name);
}

/* ---- All ports ---- */

void ports_open(struct ports *ports, const char *root)
{
    memset(ports, 0, sizeof(*ports));
    ports->text = malloc(TEXT_MAX);
    ports->net_fd = -1;
    if (!ports->text)
        return;
    ports->net_fd = open_below(root, "proc/net/dev");
    find_rdma(ports, root);
    find_devices(ports, root);
}

void ports_close(struct ports *ports)
{
    for (int i = 0; i < ports->n; i++)
        for (int k = 0; k < 2; k++)
            if (ports->of[i].fds[k] >= 0)
                close(ports->of[i].fds[k]);
    if (ports->text && ports->net_fd >= 0)
        close(ports->net_fd);
    free(ports->text);
    memset(ports, 0, sizeof(*ports));
}

static void read_devices(struct ports *ports, struct port_bytes *bytes)
{
    char *at = ports->text, *name, *numbers;

    read_net(ports);
    while ((name = next_device(&at, &numbers)) != NULL)
        for (int i = 0; i < ports->n; i++)
            if (ports->of[i].name.kind == PORT_NET &&
                strcmp(ports->of[i].name.text, name) == 0)
                parse_device(numbers, &bytes[i]);
}

void ports_read(struct ports *ports, struct port_bytes bytes[PORTS_MAX])
{
    char text[64];

    memset(bytes, 0, PORTS_MAX * sizeof(*bytes));
    for (int i = 0; i < ports->n; i++) {
        const struct port *port = &ports->of[i];

        if (port->fds[0] < 0)
            continue;
        bytes[i].sent =
            strtoull(read_text(port->fds[0], text, sizeof(text)), NULL, 10) * port->unit;
        bytes[i].received =
            strtoull(read_text(port->fds[1], text, sizeof(text)), NULL, 10) * port->unit;
    }
    if (ports->text)
        read_devices(ports, bytes);
}

static uint64_t more(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

/* 0 for a counter that went down. */
static struct port_bytes increase(struct port_bytes before, struct port_bytes now)
{
    return (struct port_bytes){more(before.sent, now.sent),
                               more(before.received, now.received)};
}

void ports_since(const struct ports *ports, const struct port_bytes before[PORTS_MAX],
                 struct port_bytes bytes[PORTS_MAX])
{
    for (int i = 0; i < ports->n; i++) {
        int below = ports->of[i].below;

        bytes[i] = increase(before[i], bytes[i]);
        if (below >= 0)
            bytes[below] = increase(bytes[i], bytes[below]);
    }
}
