/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - parses and checks the server's options */
#ifndef RINGBENCH_SERVER_CONFIG_H
#define RINGBENCH_SERVER_CONFIG_H

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "common/base/error.h"
#include "common/base/log.h"

struct config {
    /* Values of the options; owned. */
    char *listen, *data_dir, *rendezvous_ports, *rendezvous_host;
    char *advertise, *token_file, *allow_host;
    char *standing_listen, *standing_allow;
    char *launchers, *hooks;
    char *tls_cert, *tls_key, *web_dir, *config, *log_level;
    bool insecure, allow_faults;
    long lease_s, batch_lost_s, max_nodes, poll_s, join_timeout_s;
    long keep_runs, keep_days;
    char *backup;
    bool check_config;
    long standing_ttl_s, standing_id_mib;
    /* Values that config_load() derives from the options. */
    struct sockaddr_storage address;
    struct sockaddr_storage rendezvous_address; /* the port is ignored */
    char hosts[3 * NI_MAXHOST]; /* names for the Host header, "NAME,..." */
    int port_low, port_high;
    struct sockaddr_storage standing_address; /* only set if standing_listen is set */
    enum log_level level;
};

/* Parse and check the options. Return 0, 1 after answering --help or --version, or -1
 * with err. The caller zeroes *config before the call, and releases it in every case. */
int config_load(struct config *config, int argc, char **argv, struct error *err);
void config_release(struct config *config);

/* Parse "HOST:PORT", "[V6]:PORT" or ":PORT" (all addresses); HOST may be a name. */
int config_parse_address(const char *text, struct sockaddr_storage *address,
                         struct error *err);

/* Parse a range of ports, "LO-HI". */
int config_parse_ports(const char *text, int *low, int *high, struct error *err);

bool config_is_loopback(const struct sockaddr_storage *address);

#endif
