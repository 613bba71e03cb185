/* ras.c - the emulated NCCL's RAS */
#include "tests/nccl_emulation/ras.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/nccl_emulation/nccl.h"
#include "tests/nccl_emulation/operation.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ncclComm *answered;
static bool is_started;

/* A process that is stopped, or gone, does not answer. */
static bool is_there(int pid)
{
    char path[64], line[256] = "";
    const char *end;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (file && !fgets(line, sizeof(line), file))
        line[0] = '\0';
    if (file)
        fclose(file);
    end = strrchr(line, ')');
    return end && end[1] == ' ' && end[2] != 'T' && end[2] != 'Z';
}

static void put_rank(FILE *out, int rank, const struct member *member, bool is_missing)
{
    fprintf(out,
            "        {\n          \"rank\": %d,\n          \"host\": \"127.0.0.1\",\n"
            "          \"pid\": %d,\n          \"cuda_dev\": 0,\n"
            "          \"nvml_dev\": 0%s\n          \"status\": {\n",
            rank, (int)member->pid, is_missing ? "" : ",");
    if (is_missing)
        fputs("            \"unresponsive\": true,\n"
              "            \"considered_dead\": false\n          }\n        }",
              out);
    else
        fprintf(out,
                "            \"init_state\": 0,\n            \"async_error\": 0\n"
                "          },\n          \"collective_counts\": {\n"
                "            \"Broadcast\": 0,\n            \"AllReduce\": %ld\n"
                "          }\n        }",
                (long)member->launched);
}

static int put_ranks(FILE *out, const struct ncclComm *comm, bool missing)
{
    const struct member *members = wire_members(comm->wire);
    int n = 0;

    for (int i = 0; i < comm->n; i++)
        if (is_there(members[i].pid) != missing) {
            fputs(n++ ? ",\n" : "", out);
            put_rank(out, i, &members[i], missing);
        }
    return n;
}

static void put_json(FILE *out, const struct ncclComm *comm)
{
    fprintf(out,
            "{\n  \"nccl_version\": \"2.28.9\",\n  \"communicators_count\": 1,\n"
            "  \"communicators\": [\n    {\n      \"hash\": \"0x1\",\n"
            "      \"size\": %d,\n      \"ranks\": [\n",
            comm->n);
    put_ranks(out, comm, false);
    fputs("\n      ],\n      \"missing_ranks\": [\n", out);
    put_ranks(out, comm, true);
    fputs("\n      ]\n    }\n  ],\n  \"ras\": {\n    \"timeouts_count\": 0\n  }\n}\n",
          out);
}

static void put_text(FILE *out, const struct ncclComm *comm)
{
    const struct member *members = wire_members(comm->wire);

    fputs("Job summary\n===========\n\nErrors\n======\n\nINCOMPLETE\n", out);
    for (int i = 0; i < comm->n; i++)
        if (!is_there(members[i].pid))
            fprintf(out, "  Process %d on node 127.0.0.1 managing GPU 0\n",
                    (int)members[i].pid);
}

static void answer(FILE *in, FILE *out)
{
    bool has_json = false, can_json = false;
    int version;
    char line[256];

    ncclGetVersion(&version);
    can_json = version >= 22807;
    while (fgets(line, sizeof(line), in)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncasecmp(line, "client protocol", 15) == 0)
            fputs("SERVER PROTOCOL 2\n", out);
        else if (strncasecmp(line, "timeout ", 8) == 0)
            fputs("OK\n", out);
        else if (can_json && strcasecmp(line, "set format json") == 0)
            has_json = fputs("OK\n", out) >= 0;
        else if (strcasecmp(line, "verbose status") == 0)
            break;
        else
            fprintf(out, "ERROR: Unknown command %s\n", line);
        fflush(out);
    }
    pthread_mutex_lock(&lock);
    if (answered && has_json)
        put_json(out, answered);
    else if (answered)
        put_text(out, answered);
    pthread_mutex_unlock(&lock);
}

static void *serve(void *arg)
{
    int door = *(int *)arg, fd;

    free(arg);
    while ((fd = accept4(door, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");

        if (in && out)
            answer(in, out);
        if (out)
            fclose(out);
        if (in)
            fclose(in);
    }
    return NULL;
}

static void start(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, *door = malloc(sizeof(*door));
    pthread_t thread;

    if (!door)
        return;
    *door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(*door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    setsockopt(*door, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
    if (bind(*door, (struct sockaddr *)&at, sizeof(at)) || listen(*door, 8) ||
        pthread_create(&thread, NULL, serve, door)) {
        close(*door);
        free(door);
        return;
    }
    pthread_detach(thread);
}

void ras_begin(struct ncclComm *comm)
{
    const char *address = getenv("NCCL_RAS_ADDR");
    const char *port = address ? strrchr(address, ':') : NULL;

    pthread_mutex_lock(&lock);
    answered = comm;
    if (port && !is_started)
        start(atoi(port + 1));
    is_started = true;
    pthread_mutex_unlock(&lock);
}

void ras_end(struct ncclComm *comm)
{
    pthread_mutex_lock(&lock);
    if (answered == comm)
        answered = NULL;
    pthread_mutex_unlock(&lock);
}
