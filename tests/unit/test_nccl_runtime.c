/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_runtime.c - which CUDA runtime and NCCL the worker takes, over emulated ones,
 * and what its probe refuses */
#include <sys/inotify.h>
#include <sys/stat.h>

#include "common/base/json_util.h"
#include "tests/unit/mentions.h"
#include "tests/unit/nccl_fixture.h"
#include "tests/unit/test.h"

GROUP_FIXTURE(nccl_set_up, nccl_tear_down);

static void assert_runtime(const char *emulation, const char *runtime, const char *reason)
{
    json_t *answer = nccl_probe(emulation);

    assert_string_equal(json_get_str(answer, "cuda_runtime", "none"), runtime);
    if (reason)
        assert_mentions(json_get_str(answer, "reason", ""), reason);
    else
        assert_string_equal(json_get_str(answer, "reason", ""), "");
    json_decref(answer);
}

TEST(the_driver_decides_among_those_that_are_found)
{
    unsetenv("RINGBENCH_CUDART_LIB");
    setenv("LD_LIBRARY_PATH", EMULATED_CUDART_DIRS, 1);
    assert_runtime("driver=13000", "13.0", NULL);
    assert_runtime("driver=12040", "12.8", NULL);
    /* None fits, or none can be asked: it stays with the newest. */
    assert_runtime("driver=11080", "13.0", NULL);
    assert_runtime("no_driver", "13.0", "NVIDIA driver");
    unsetenv("LD_LIBRARY_PATH");
}

TEST(the_one_that_is_named_is_taken)
{
    setenv("LD_LIBRARY_PATH", EMULATED_CUDART_DIRS, 1);
    setenv("RINGBENCH_CUDART_LIB", EMULATED_CUDART, 1);
    assert_runtime("driver=12040", "13.0", NULL);
    unsetenv("LD_LIBRARY_PATH");
}

/* ---- NCCL ---- */

#define PACKAGE "lib/python3.11/site-packages/nvidia/nccl/lib"

/* A copy of the emulated NCCL, built for that CUDA by its own account. */
static void place_nccl(const char *dir, const char *cuda)
{
    char command[1024];

    snprintf(command, sizeof(command),
             "mkdir -p %s && cp -L %s %s/libnccl.so.2 && "
             "printf 'NCCL version 2.28.9+cuda%s\\0' >>%s/libnccl.so.2",
             dir, EMULATED_NCCL, dir, cuda, dir);
    assert_int_equal(system(command), 0);
}

static json_t *probe_nccl(const char *emulation, bool is_available, const char *path)
{
    json_t *answer = nccl_probe(emulation);

    assert_int_equal(json_get_bool(answer, "available", !is_available), is_available);
    assert_string_equal(json_get_str(answer, "nccl_library", "none"), path);
    return answer;
}

/* One for CUDA 13 where the loader looks, one for CUDA 12 in a Python package. */
TEST(the_driver_decides_among_libnccls_too)
{
    char root[] = "/tmp/ringbench-nccls-XXXXXX", package[128], first[128], second[192];
    json_t *answer;

    assert_non_null(mkdtemp(root));
    snprintf(first, sizeof(first), "%s/libnccl.so.2", root);
    snprintf(package, sizeof(package), "%s/" PACKAGE, root);
    snprintf(second, sizeof(second), "%s/libnccl.so.2", package);
    place_nccl(root, "13.0");
    place_nccl(package, "12.8");
    unsetenv("RINGBENCH_NCCL_LIB");
    setenv("LD_LIBRARY_PATH", root, 1);
    setenv("VIRTUAL_ENV", root, 1);
    setenv("RINGBENCH_CUDART_LIB", EMULATED_CUDART_12, 1);

    answer = probe_nccl("driver=12040", true, second);
    assert_mentions(json_get_str(answer, "nccl_passed_over", ""), first);
    assert_mentions(json_get_str(answer, "nccl_passed_over", ""), "13.0");
    json_decref(answer);
    answer = probe_nccl("driver=13000", true, first);
    assert_null(json_object_get(answer, "nccl_passed_over"));
    json_decref(answer);
    /* What is named is not replaced. */
    setenv("RINGBENCH_NCCL_LIB", first, 1);
    answer = probe_nccl("driver=12040", false, first);
    assert_mentions(json_get_str(answer, "reason", ""), "13.0");
    assert_mentions(json_get_str(answer, "reason", ""), "12.4");
    assert_null(json_object_get(answer, "nccl_passed_over"));
    json_decref(answer);

    char command[256];
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("VIRTUAL_ENV");
    setenv("RINGBENCH_CUDART_LIB", EMULATED_CUDART, 1);
    setenv("RINGBENCH_NCCL_LIB", EMULATED_NCCL, 1);
}

/* The loader's mapping stays until the process ends, so its events merge with those of
 * the search for the CUDA version. */
TEST(a_libnccl_is_searched_once_per_process)
{
    char root[] = "/tmp/ringbench-nccls-XXXXXX", path[128], command[256];
    struct inotify_event events[16];
    int notify = inotify_init1(IN_NONBLOCK);

    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof(path), "%s/libnccl.so.2", root);
    place_nccl(root, "12.8");
    setenv("RINGBENCH_NCCL_LIB", path, 1);
    assert_true(inotify_add_watch(notify, path, IN_OPEN | IN_CLOSE) >= 0);
    json_decref(probe_nccl("driver=13000", true, path));
    assert_int_equal(read(notify, events, sizeof(events)), 2 * sizeof(*events));
    close(notify);
    setenv("RINGBENCH_NCCL_LIB", EMULATED_NCCL, 1);
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

/* ---- What the probe refuses ---- */

static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fclose(file);
}

static void assert_reason(const char *emulation, const char *wanted, const char *unwanted)
{
    json_t *answer = nccl_probe(emulation);
    const char *reason = json_get_str(answer, "reason", "");

    assert_false(json_get_bool(answer, "available", true));
    assert_mentions(reason, wanted);
    assert_null(strstr(reason, unwanted));
    json_decref(answer);
}

TEST(a_device_file_that_cannot_be_used_is_named)
{
    char root[] = "/tmp/ringbench-root-XXXXXX", path[128];

    assert_non_null(mkdtemp(root));
    setenv("RINGBENCH_ROOT", root, 1);
    snprintf(path, sizeof(path), "%s/dev", root);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_reason("no_device", "no GPU", "nvidia-uvm");
    snprintf(path, sizeof(path), "%s/dev/nvidiactl", root);
    make_file(path);
    assert_reason("no_device", "nvidia-modprobe", "no GPU");
    snprintf(path, sizeof(path), "%s/dev/nvidia-uvm", root);
    assert_int_equal(mkdir(path, 0700), 0); /* cannot be opened for writing */
    assert_reason("no_device", "/dev/nvidia-uvm", "nvidia-modprobe");
    assert_int_equal(rmdir(path), 0);
    make_file(path);
    assert_reason("no_device", "no GPU", "nvidia-uvm");

    char command[256];
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
    unsetenv("RINGBENCH_ROOT");
}

TEST(nccl_is_of_no_use_without_nvml)
{
    setenv("RINGBENCH_NVML_LIB", "/no/such/dir/libnvidia-ml.so.1", 1);
    assert_reason("", "NVIDIA_DRIVER_CAPABILITIES=compute,utility", "GPU is visible");
    setenv("RINGBENCH_NVML_LIB", EMULATED_NVML, 1);
    json_t *answer = nccl_probe("");
    assert_true(json_get_bool(answer, "available", false));
    json_decref(answer);
    unsetenv("RINGBENCH_NVML_LIB");
}
