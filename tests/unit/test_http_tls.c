/* SPDX-License-Identifier: Apache-2.0 */
/* test_http_tls.c - the same server over TLS, and what an unfinished handshake costs */
#include <curl/curl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "http_fixture.h"
#include "web_tree.h"
#include "tests/unit/test.h"

static struct fixture *fixture;
static struct web_tree tree;
static char *cert, *key;

static char *slurp(const char *name)
{
    char *text = calloc(1, 16384);
    FILE *file = fopen(web_tree_path(&tree, name), "r");
    size_t len = file ? fread(text, 1, 16383, file) : 0;

    if (file)
        fclose(file);
    if (len > 0)
        return text;
    free(text);
    return NULL;
}

static void run_openssl(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    dup2(null, STDERR_FILENO);
    if (chdir(tree.root) == 0)
        execlp("openssl", "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
               "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key", "-out", "cert",
               "-days", "2", "-subj", "/CN=localhost", "-addext",
               "subjectAltName=IP:127.0.0.1", (char *)NULL);
    _exit(127);
}

/* Whether a certificate could be made. */
static bool make_certificate(void)
{
    int status = -1;
    pid_t pid;

    if (web_tree_create(&tree))
        return false;
    pid = fork();
    if (pid == 0)
        run_openssl();
    if (pid > 0)
        waitpid(pid, &status, 0);
    if (status == 0) {
        cert = slurp("cert");
        key = slurp("key");
    }
    web_tree_remove(&tree);
    return cert && key;
}

static int start(void **state)
{
    (void)state;
    fixture = fixture_start(&(struct fixture_options){.tls_cert = cert, .tls_key = key});
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fixture_stop(fixture);
    return 0;
}

struct received {
    size_t len;
    bool is_wrong;
    char start[512];
};

static size_t receive(char *data, size_t size, size_t n, void *arg)
{
    struct received *received = arg;

    for (size_t i = 0; i < n; i++, received->len++) {
        if (received->len < sizeof(received->start) - 1)
            received->start[received->len] = data[i];
        if (data[i] != (char)('a' + received->len % 23))
            received->is_wrong = true;
    }
    return size * n;
}

static CURL *handle_new(const char *path, struct received *received)
{
    struct curl_blob trusted = {cert, strlen(cert), CURL_BLOB_COPY};
    CURL *curl = curl_easy_init();
    char url[128];

    snprintf(url, sizeof(url), "https://127.0.0.1:%d%s", fixture->port, path);
    memset(received, 0, sizeof(*received));
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
    curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &trusted);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, received);
    return curl;
}

static long perform(CURL *curl)
{
    long status = 0;
    CURLcode rc = curl_easy_perform(curl);

    if (rc != CURLE_OK)
        fail_msg("%s", curl_easy_strerror(rc));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

TEST_WITH(start, stop, answers_over_tls)
{
    struct received received;
    CURL *curl = handle_new("/api/ok", &received);

    for (int i = 0; i < 3; i++) {
        long connects = 0;

        memset(&received, 0, sizeof(received));
        assert_int_equal(perform(curl), 200);
        assert_string_equal(received.start, "ok\n");
        curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connects);
        assert_int_equal(connects, i == 0);
    }
    curl_easy_cleanup(curl);
    curl = handle_new("/api/slow", &received);
    assert_int_equal(perform(curl), 200);
    assert_string_equal(received.start, "late\n");
    curl_easy_cleanup(curl);
}

TEST_WITH(start, stop, refuses_a_large_body_over_tls)
{
    static char body[300000];
    struct received received;
    CURL *curl = handle_new("/api/echo", &received);
    struct curl_slist *headers = curl_slist_append(NULL, "Transfer-Encoding: chunked");

    memset(body, 'x', sizeof(body));
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)sizeof(body));
    assert_int_equal(perform(curl), 413);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    assert_int_equal(perform(curl), 413);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* What it takes beside the work. */
static double wait_for_large(void)
{
    struct received received;
    CURL *curl = handle_new("/api/large", &received);
    double begin = now_s(), cpu = cpu_s();

    assert_int_equal(perform(curl), 200);
    assert_int_equal(received.len, (size_t)16 << 20);
    assert_false(received.is_wrong);
    curl_easy_cleanup(curl);
    return now_s() - begin - (cpu_s() - cpu);
}

TEST_WITH(start, stop, sends_large_answers_without_crawling)
{
    double best = wait_for_large();

    /* At the library's crawl of 4 MB/s it would be four, every time. */
    for (int i = 0; i < 9 && best >= 3; i++) {
        double took = wait_for_large();

        best = took < best ? took : best;
    }
    print_message("16 MiB took %.2f s beside the work\n", best);
    assert_true(best < 3);
}

/* Whether the process comes to rest while nobody asks it anything. One that looks again
 * and again for what does not come never does. */
static bool comes_to_rest(void)
{
    for (int i = 0; i < 20; i++) {
        double before = cpu_s();

        poll(NULL, 0, 200);
        if (cpu_s() - before < 0.02)
            return true;
    }
    return false;
}

TEST_WITH(start, stop, a_partial_hello_lets_the_server_rest)
{
    static const unsigned char hello[] = {0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00};
    int fd = client_connect(fixture);
    struct pollfd end = {.fd = fd, .events = POLLIN};

    client_send_bytes(fd, hello, sizeof(hello));
    assert_true(comes_to_rest());
    assert_int_equal(poll(&end, 1, 0), 0);
    close(fd);
}

TEST_WITH(start, stop, a_silent_handshake_ends)
{
    int fd = client_connect(fixture);
    struct pollfd end = {.fd = fd, .events = POLLIN};
    double begin = now_s();

    client_send_bytes(fd, "\x16\x03\x01", 3);
    /* Other connections may be silent for a minute. */
    assert_int_equal(poll(&end, 1, 40000), 1);
    assert_true(now_s() - begin > 8);
    close(fd);
}

/* The hello of a TLS 1.2 client that can do one thing: ECDHE, ECDSA and AES-128-GCM. */
static void send_hello(int fd)
{
    static const char hello[] = "\x16\x03\x01\0\x4e\x01\0\0\x4a\x03\x03"
                                "what is random to those who hope"
                                "\0\0\x02\xc0\x2b\x01\0\0\x1f"
                                "\0\x0a\0\x04\0\x02\0\x17"   /* group P-256 */
                                "\0\x0b\0\x02\x01\0"         /* its points as they are */
                                "\0\x0d\0\x04\0\x02\x04\x03" /* ECDSA with SHA-256 */
                                "\0\x17\0\0\xff\x01\0\x01";  /* and a zero at the end */

    client_send_bytes(fd, hello, sizeof(hello));
}

/* Hellos that the server has answered, and that then wait. */
static void open_handshakes(int *fds, int n)
{
    unsigned char type = 0;

    for (int i = 0; i < n; i++) {
        fds[i] = client_connect(fixture);
        send_hello(fds[i]);
    }
    for (int i = 0; i < n; i++) {
        assert_int_equal(client_receive(fds[i], &type, 1), 1);
        assert_int_equal(type, 0x16);
    }
}

static bool is_over(int fd)
{
    char scrap[4096];
    ssize_t n;

    while ((n = recv(fd, scrap, sizeof(scrap), MSG_DONTWAIT)) > 0)
        ;
    return n == 0 || errno == ECONNRESET;
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

/* Before they are over, which they are by themselves in ten seconds. */
TEST_WITH(start, stop, unfinished_handshakes_let_the_server_rest)
{
    static int fds[200];
    bool has_rested = false;

    for (int i = 0; i < 3 && !has_rested; i++) {
        open_handshakes(fds, 200);
        has_rested = comes_to_rest() && !is_over(fds[199]);
        close_all(fds, 200);
    }
    assert_true(has_rested);
}

/* Handshakes begin one after another, those of the many after that of somebody else. */
TEST_WITH(start, stop, a_handshake_does_not_wait_for_those_of_another_address)
{
    enum { MANY = 1500 };
    static int fds[MANY];
    struct received received;
    CURL *curl = handle_new("/counters", &received);
    char *waiting;

    curl_easy_setopt(curl, CURLOPT_INTERFACE, "127.0.0.2");
    for (int i = 0; i < MANY; i++)
        fds[i] = client_connect(fixture);
    assert_int_equal(perform(curl), 200);
    waiting = strstr(received.start, "\"waiting\":");
    assert_non_null(waiting);
    assert_in_range(strtol(waiting + strlen("\"waiting\":"), NULL, 10), MANY / 3, MANY);
    curl_easy_cleanup(curl);
    close_all(fds, MANY);
}

TEST(refuses_to_start_with_a_bad_certificate)
{
    struct http_config config = {.tls_cert = "nonsense", .tls_key = key};
    struct http_route none = {NULL, NULL, ROLE_NONE, 0, NULL};
    struct error err = {ERROR_NONE, ""};
    uv_loop_t loop;

    uv_loop_init(&loop);
    config.listen.ss_family = AF_INET;
    assert_null(http_server_create(&loop, &config, &none, NULL, &err));
    assert_non_null(strstr(err.text, "cannot start"));
    config.tls_cert = NULL;
    assert_null(http_server_create(&loop, &config, &none, NULL, &err));
    assert_non_null(strstr(err.text, "both"));
    assert_int_equal(uv_loop_close(&loop), 0);
}

static int begin(void **state)
{
    (void)state;
    if (!make_certificate()) {
        printf("skipped: openssl could not make a certificate\n");
        exit(77);
    }
    return curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK;
}

static int end(void **state)
{
    (void)state;
    curl_global_cleanup();
    free(cert);
    free(key);
    return 0;
}

GROUP_FIXTURE(begin, end);
