/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - parses and checks the server's options */
#include "server/config.h"

#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/beside.h"
#include "common/base/memory.h"
#include "common/base/options.h"

#define AT(field) offsetof(struct config, field)

static const struct option table[] = {
    {"listen", OPTION_STRING, AT(listen), "127.0.0.1:8080", "ADDR:PORT",
     "address of the server; port 0: any free port", 0, 0},
    {"data-dir", OPTION_STRING, AT(data_dir), "ringbench-data", "DIR",
     "directory for runs and results", 0, 0},
    {"keep-runs", OPTION_INT, AT(keep_runs), "0", "N",
     "keep the newest N runs and delete older ones; 0: keep all", 0, 1000000000},
    {"keep-days", OPTION_INT, AT(keep_days), "0", "D",
     "delete runs older than D days; 0: keep all", 0, 36500},
    {"backup", OPTION_STRING, AT(backup), NULL, "FILE",
     "write a copy of the runs in --data-dir to a new file and exit; a server may be "
     "running",
     0, 0},
    {"check-config", OPTION_FLAG, AT(check_config), NULL, NULL,
     "check the options and the files that they refer to, and exit", 0, 0},
    {"rendezvous-ports", OPTION_STRING, AT(rendezvous_ports), NULL, "LO-HI",
     "ports for the ranks' rendezvous, one for each running case (default: any free)", 0,
     0},
    {"rendezvous-address", OPTION_STRING, AT(rendezvous_host), NULL, "ADDR",
     "address of the ranks' rendezvous (default: the address of --listen)", 0, 0},
    {"rendezvous-listen", OPTION_STRING, AT(standing_listen), NULL, "ADDR:PORT",
     "address of a standing rendezvous for launchers such as torchrun (default: none)", 0,
     0},
    {"rendezvous-allow", OPTION_STRING, AT(standing_allow), NULL, "NET,...",
     "clients of the standing rendezvous, such as 10.0.0.0/8,fd00::/16 (default: all)", 0,
     0},
    {"rendezvous-ttl-s", OPTION_INT, AT(standing_ttl_s), "3600", "S",
     "time after which the standing rendezvous deletes an unused key", 1, 31536000},
    {"rendezvous-id-mib", OPTION_INT, AT(standing_id_mib), "64", "MIB",
     "memory limit of the standing rendezvous for each rendezvous ID or key prefix", 1,
     256},
    {"advertise", OPTION_STRING, AT(advertise), NULL, "HOST",
     "host where ranks reach the rendezvous (default: where their agent reaches the "
     "server)",
     0, 0},
    {"token-file", OPTION_STRING, AT(token_file), NULL, "FILE",
     "file with a line \"ROLE TOKEN [NAME]\" for each token; roles: viewer, operator, "
     "agent",
     0, 0},
    {"insecure", OPTION_FLAG, AT(insecure), NULL, NULL,
     "allow --listen without tokens on an address other than loopback", 0, 0},
    {"allow-host", OPTION_STRING, AT(allow_host), NULL, "NAME,...",
     "further host names that clients may use to reach a server without tokens", 0, 0},
    {"launchers", OPTION_STRING, AT(launchers), NULL, "DIR",
     "files that define how to get nodes from batch engines such as Slurm (default: "
     "none)",
     0, 0},
    {"hooks", OPTION_STRING, AT(hooks), NULL, "DIR",
     "files that define actions of watches on nodes, such as draining (default: none)", 0,
     0},
    {"tls-cert", OPTION_STRING, AT(tls_cert), NULL, "FILE", "certificate chain, PEM", 0,
     0},
    {"tls-key", OPTION_STRING, AT(tls_key), NULL, "FILE",
     "private key of the certificate, PEM", 0, 0},
    {"web-dir", OPTION_STRING, AT(web_dir), NULL, "DIR",
     "the web UI's files (default: beside the program)", 0, 0},
    {"config", OPTION_STRING, AT(config), NULL, "FILE", "read options from a file", 0, 0},
    {"lease-s", OPTION_INT, AT(lease_s), "30", "S",
     "an agent is lost after this long without a request", 2, 86400},
    {"batch-lost-s", OPTION_INT, AT(batch_lost_s), "180", "S",
     "a lost node of a batch job counts as left after this time", 1, 86400},
    {"max-nodes", OPTION_INT, AT(max_nodes), "16384", "N",
     "limit of registered nodes; at the limit, lost nodes and nodes that left are "
     "removed",
     1, 1000000},
    {"poll-s", OPTION_INT, AT(poll_s), "5", "S",
     "time for which an agent's request for commands is held", 1, 3600},
    {"join-timeout-s", OPTION_INT, AT(join_timeout_s), "30", "S",
     "time for a case's ranks to join, and again to connect, plus 1 s per 20 ranks", 1,
     86400},
    {"log-level", OPTION_STRING, AT(log_level), "info", "LEVEL",
     "error, warn, info or debug", 0, 0},
    {"allow-faults", OPTION_FLAG, AT(allow_faults), NULL, NULL,
     "let runs inject faults into workers (for tests)", 0, 0},
    {NULL, OPTION_STRING, 0, NULL, NULL, NULL, 0, 0},
};

/* Split "HOST:PORT" or "[V6]:PORT". */
static int split_address(const char *text, char host[NI_MAXHOST], char port[16])
{
    const char *colon = strrchr(text, ':'), *end = colon;
    size_t len;

    if (!colon || strlen(colon + 1) == 0 || strlen(colon + 1) > 5 ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        strtol(colon + 1, NULL, 10) > 65535)
        return -1;
    if (*text == '[') {
        if (end == text || end[-1] != ']')
            return -1;
        text++;
        end--;
    } else if (memchr(text, ':', (size_t)(colon - text))) {
        return -1; /* an IPv6 address without brackets */
    }
    len = (size_t)(end - text);
    if (len >= NI_MAXHOST)
        return -1;
    memcpy(host, text, len);
    host[len] = '\0';
    snprintf(port, 16, "%s", colon + 1);
    return 0;
}

int config_parse_address(const char *text, struct sockaddr_storage *address,
                         struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    char host[NI_MAXHOST], port[16];
    int rc;

    if (split_address(text, host, port))
        return error_set(err, ERROR_INVALID,
                         "'%.100s' is not ADDR:PORT, such as 127.0.0.1:8080 or "
                         "[::1]:8080",
                         text);
    rc = getaddrinfo(*host ? host : NULL, port, &hints, &found);
    if (rc)
        return error_set(err, ERROR_INVALID,
                         "'%.100s' is not an address of this host: %s", host,
                         gai_strerror(rc));
    memset(address, 0, sizeof(*address));
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 0;
}

int config_parse_ports(const char *text, int *low, int *high, struct error *err)
{
    char *dash, *end = NULL;
    long a = strtol(text, &dash, 10), b = 0;

    if (*dash == '-')
        b = strtol(dash + 1, &end, 10);
    if (!end || end == dash + 1 || *end != '\0' || a < 1 || b > 65535 || a > b)
        return error_set(err, ERROR_INVALID,
                         "'%.60s' is not a range of ports such as 29400-29499", text);
    *low = (int)a;
    *high = (int)b;
    return 0;
}

bool config_is_loopback(const struct sockaddr_storage *address)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;

    if (address->ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(six) ||
               (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
    return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
}

static int check_security(const struct config *config, struct error *err)
{
    if (!config_is_loopback(&config->address) && !config->token_file && !config->insecure)
        return error_set(err, ERROR_INVALID,
                         "--listen %s is reachable from other hosts: add --token-file, "
                         "or --insecure to let everyone start runs",
                         config->listen);
    if (!config->tls_cert != !config->tls_key)
        return error_set(err, ERROR_INVALID, "TLS needs both --tls-cert and --tls-key");
    return 0;
}

static bool has_index(const char *dir)
{
    char path[4200];

    snprintf(path, sizeof(path), "%s/index.html", dir);
    return access(path, R_OK) == 0;
}

/* Find the UI in the directory, relative to the program, where the build and the
 * installation put it. A server without the UI still serves the API. */
static void find_web_dir(struct config *config)
{
    char path[PATH_MAX];

    if (!config->web_dir && !beside_program("../share/ringbench/web", path) &&
        has_index(path))
        config->web_dir = memory_text(path, "an option");
}

static int find_rendezvous_address(struct config *config, struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    int rc;

    config->rendezvous_address = config->address;
    if (!config->rendezvous_host)
        return 0;
    rc = getaddrinfo(config->rendezvous_host, NULL, &hints, &found);
    if (rc)
        return error_set(err, ERROR_INVALID, "--rendezvous-address '%.100s': %s",
                         config->rendezvous_host, gai_strerror(rc));
    memcpy(&config->rendezvous_address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 0;
}

/* List the names that clients may use in the Host header. Other names are refused, which
 * stops pages that attack the server by DNS rebinding. */
static int find_hosts(struct config *config, struct error *err)
{
    char own[HOST_NAME_MAX + 1] = "";
    const char *dot;
    int n;

    gethostname(own, sizeof(own) - 1);
    dot = strchr(own, '.');
    n = snprintf(config->hosts, sizeof(config->hosts), "%s%s%.*s%s%s%s%s", own,
                 dot ? "," : "", dot ? (int)(dot - own) : 0, own,
                 config->advertise ? "," : "", config->advertise ? config->advertise : "",
                 config->allow_host ? "," : "",
                 config->allow_host ? config->allow_host : "");
    if (n >= (int)sizeof(config->hosts))
        return error_set(err, ERROR_INVALID, "--allow-host is longer than %d bytes",
                         2 * NI_MAXHOST);
    return 0;
}

static int finish(struct config *config, struct error *err)
{
    int level = log_level_parse(config->log_level);

    if (level < 0)
        return error_set(err, ERROR_INVALID,
                         "--log-level must be error, warn, info or debug");
    config->level = (enum log_level)level;
    if (config_parse_address(config->listen, &config->address, err))
        return error_prefix(err, "--listen");
    if (config->rendezvous_ports &&
        config_parse_ports(config->rendezvous_ports, &config->port_low,
                           &config->port_high, err))
        return error_prefix(err, "--rendezvous-ports");
    if (config->standing_listen &&
        config_parse_address(config->standing_listen, &config->standing_address, err))
        return error_prefix(err, "--rendezvous-listen");
    if (config->standing_allow && !config->standing_listen)
        return error_set(err, ERROR_INVALID,
                         "--rendezvous-allow needs --rendezvous-listen");
    if (config->lease_s <= config->poll_s)
        return error_set(
            err, ERROR_INVALID,
            "--lease-s %ld must exceed --poll-s %ld, otherwise idle agents count as lost",
            config->lease_s, config->poll_s);
    if (find_rendezvous_address(config, err))
        return -1;
    find_web_dir(config);
    return find_hosts(config, err) || check_security(config, err) ? -1 : 0;
}

int config_load(struct config *config, int argc, char **argv, struct error *err)
{
    int rc = options_parse("ringbench-server",
                           "Accepts benchmark requests over HTTP and runs them on the "
                           "nodes whose agents have registered.",
                           table, config, argc, argv, err);

    return rc ? rc : finish(config, err);
}

void config_release(struct config *config)
{
    options_release(table, config);
}
