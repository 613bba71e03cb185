/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_checks.c - defines the preflight checks, their fixes and their backends */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu_list.h"
#include "common/base/json_util.h"
#include "server/analysis/preflight_look.h"
#include "server/finding/template.h"

#define CLOCK_APART_S 2.0
#define MEMLOCK_LEAST 0x1p30
#define SHM_LEAST 0x1p28
#define FILES_LEAST 4096

static const json_t *nccl_of(const struct preflight_node *node)
{
    return json_object_get(member(node, "backends"), "nccl");
}

/* ---- PCIe ---- */

static const char *place_of(const json_t *device)
{
    const char *pci = json_get_str(device, "pci", NULL);

    return pci ? pci : name_of(device);
}

/* Return a name that identifies a device. Several GPUs may be the same model, so a GPU's
 * model is not sufficient. */
static const char *which(const json_t *device, bool is_gpu)
{
    return is_gpu ? place_of(device) : name_of(device);
}

/* Check a device's PCIe link. An idle GPU lowers its link's speed, but not its number of
 * lanes. */
static void look_at_link(const json_t *device, bool is_gpu,
                         struct preflight_result *result)
{
    const json_t *link = json_object_get(device, "pcie");
    int64_t width = json_get_int(link, "width", 0);
    int64_t width_max = json_get_int(link, "width_max", 0);
    double gts = json_get_num(link, "gts", 0), gts_max = json_get_num(link, "gts_max", 0);

    if (width <= 0 || width_max <= 0)
        return;
    pass(result);
    if (width < width_max)
        find(result, place_of(device), "the PCIe link of %.60s has %d of %d lanes",
             which(device, is_gpu), (int)width, (int)width_max);
    else if (gts < gts_max && !is_gpu)
        find(result, place_of(device), "the PCIe link of %.60s has %g of %g GT/s",
             which(device, is_gpu), gts, gts_max);
}

/* Devices that exchange data with GPUs over the PCIe bus. */
static const struct {
    const char *key;
    bool is_gpu;
} devices[] = {{"gpus", true}, {"rdma", false}};

#define N_DEVICES (sizeof(devices) / sizeof(devices[0]))

static void look_at_pcie(const struct preflight_node *node,
                         const struct preflight_use *use, struct preflight_result *result)
{
    (void)use;
    for (size_t k = 0; k < N_DEVICES; k++) {
        const json_t *list = member(node, devices[k].key);

        for (size_t i = 0; i < json_array_size(list); i++)
            look_at_link(json_array_get(list, i), devices[k].is_gpu, result);
    }
}

static bool has_gpus(const struct preflight_node *node, struct preflight_result *result)
{
    const json_t *gpus = member(node, "gpus");

    if (json_is_array(gpus) && json_array_size(gpus) == 0)
        snprintf(result->sentence, sizeof(result->sentence), "the node has no GPU");
    return json_array_size(gpus) > 0;
}

/* Check for missing GPUs. A batch step or a container may get fewer GPUs than the node
 * contains. Runs then measure only these GPUs, or the host's memory. */
static void look_at_usable(const struct preflight_node *node,
                           const struct preflight_use *use,
                           struct preflight_result *result)
{
    const json_t *gpus = member(node, "gpus_usable");
    const char *why = json_get_str(gpus, "why", "");
    int usable = (int)json_get_int(gpus, "usable", 0);
    int on_bus = (int)json_get_int(gpus, "on_bus", 0);

    (void)use;
    if (!has_gpus(node, result) || !gpus)
        return;
    pass(result);
    if (usable < on_bus)
        find(result, "", "the agent can use %d of the %d GPUs on the bus%s%.100s%s",
             usable, on_bus, *why ? " (" : "", why, *why ? ")" : "");
}

/* Return true if there are a GPU and another device with which it can communicate
 * directly. */
static bool has_peers(const struct preflight_node *node, struct preflight_result *result)
{
    size_t n = 0;

    for (size_t k = 0; k < N_DEVICES; k++)
        n += json_array_size(member(node, devices[k].key));
    if (!has_gpus(node, result))
        return false;
    if (n == 1)
        snprintf(result->sentence, sizeof(result->sentence),
                 "the node has only one GPU and no HCA");
    return n > 1;
}

static void look_at_acs(const struct preflight_node *node,
                        const struct preflight_use *use, struct preflight_result *result)
{
    (void)use;
    if (!has_peers(node, result))
        return;
    snprintf(result->sentence, sizeof(result->sentence),
             "only root can read ACS settings, but the agent does not run as root");
    for (size_t k = 0; k < N_DEVICES; k++) {
        const json_t *list = member(node, devices[k].key);

        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *bridges = json_object_get(json_array_get(list, i), "acs");

            if (json_is_array(bridges))
                pass(result);
            if (json_array_size(bridges) > 0)
                find(result, json_string_value(json_array_get(bridges, 0)),
                     "ACS of the PCIe bridges above %.60s routes traffic between devices "
                     "through the CPU",
                     which(json_array_get(list, i), devices[k].is_gpu));
        }
    }
}

/* ---- GPU state from NVML ---- */

/* Return true for values that NVML reports. Other values are not evaluated. */
static bool is_for_nvml(const struct preflight_node *node,
                        struct preflight_result *result)
{
    bool applies = has_gpus(node, result);

    if (applies)
        snprintf(result->sentence, sizeof(result->sentence),
                 "NVML does not report this value");
    return applies;
}

/* Return the number of active NVLinks, or -1 if NVML does not report the number. */
static int64_t links_of(const json_t *gpu)
{
    return json_get_int(json_object_get(gpu, "nvlink"), "active", -1);
}

static int64_t most_links(const json_t *gpus, const char *name)
{
    int64_t most = 0;

    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const json_t *gpu = json_array_get(gpus, i);

        if (links_of(gpu) > most && is(gpu, "name", name))
            most = links_of(gpu);
    }
    return most;
}

/* Compare the GPUs of one model. Without an NVLink bridge, no GPU has an active link,
 * which is no finding. */
static void look_at_nvlink(const struct preflight_node *node,
                           const struct preflight_use *use,
                           struct preflight_result *result)
{
    const json_t *gpus = member(node, "gpus");

    (void)use;
    if (!has_gpus(node, result))
        return;
    snprintf(result->sentence, sizeof(result->sentence), "the node reports no NVLinks");
    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const json_t *gpu = json_array_get(gpus, i);
        int64_t own = links_of(gpu);
        int64_t most = own < 0 ? 0 : most_links(gpus, json_get_str(gpu, "name", ""));

        if (most > 0)
            pass(result);
        if (own >= 0 && own < most)
            find(result, place_of(gpu),
                 "%d NVLinks of GPU %.40s are active, but %d on other GPUs of the model",
                 (int)own, place_of(gpu), (int)most);
    }
}

/* Compare nodes with the same CPUs. Nodes without a GPU are compared, too, because they
 * may have lost all GPUs. */
static void gather_gpu_count(const struct preflight_node *node,
                             struct preflight_facts *facts)
{
    const json_t *cpu = member(node, "cpu");
    const char *model = json_get_str(cpu, "model", NULL);
    char what[2 * PREFLIGHT_NAME_MAX], count[24];

    if (!model)
        return;
    snprintf(what, sizeof(what), "the number of GPUs (of nodes with %.60s, %d threads)",
             model, (int)json_get_int(cpu, "threads", 0));
    snprintf(count, sizeof(count), "%zu", json_array_size(member(node, "gpus")));
    add_fact(facts, what, count, "");
}

/* Compare nodes, not GPUs of a node. Two GPUs that lost the link between them have equal
 * counts. */
static void gather_nvlinks(const struct preflight_node *node,
                           struct preflight_facts *facts)
{
    const json_t *gpus = member(node, "gpus"), *first = json_array_get(gpus, 0);
    const char *name = json_get_str(first, "name", "");
    char what[PREFLIGHT_NAME_MAX], links[24];

    for (size_t i = 0; i < json_array_size(gpus); i++)
        if (!is(json_array_get(gpus, i), "name", name) ||
            links_of(json_array_get(gpus, i)) != links_of(first))
            return;
    if (links_of(first) < 0)
        return;
    snprintf(what, sizeof(what), "the number of active NVLinks per GPU (%zu %.30s)",
             json_array_size(gpus), name);
    snprintf(links, sizeof(links), "%d", (int)links_of(first));
    add_fact(facts, what, links, "");
}

/* Report GPUs that were slowed down. A GPU at its power limit is no finding, because the
 * limit is configured. */
static void look_at_slowed(const struct preflight_node *node,
                           const struct preflight_use *use,
                           struct preflight_result *result)
{
    const json_t *gpus = member(node, "gpus");

    (void)use;
    if (!is_for_nvml(node, result))
        return;
    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const json_t *gpu = json_array_get(gpus, i);
        const json_t *reasons = json_object_get(json_object_get(gpu, "now"), "slowed_by");

        if (reasons)
            pass(result);
        for (size_t k = 0; k < json_array_size(reasons); k++) {
            const char *reason = json_string_value(json_array_get(reasons, k));

            if (reason && strcmp(reason, "power cap") != 0)
                find(result, place_of(gpu),
                     "GPU %.40s was slowed by %.40s when the agent started",
                     place_of(gpu), reason);
        }
    }
}

/* ---- System requirements of NCCL ---- */

/* Return true if DMA-BUF can replace nvidia_peermem. DMA-BUF requires the open kernel
 * module and Linux 5.12 or later. */
static bool has_dma_buf(const struct preflight_node *node)
{
    int major = 0, minor = 0;

    sscanf(json_get_str(node->inventory, "kernel", ""), "%d.%d", &major, &minor);
    return strstr(json_get_str(node->inventory, "nvidia_module", ""), "Open Kernel") &&
           (major > 5 || (major == 5 && minor >= 12));
}

static bool has_active_port(const struct preflight_node *node,
                            struct preflight_result *result)
{
    const json_t *ports = member(node, "rdma");

    for (size_t i = 0; i < json_array_size(ports); i++)
        if (is(json_array_get(ports, i), "state", "active"))
            return true;
    if (json_is_array(ports))
        snprintf(result->sentence, sizeof(result->sentence),
                 "the node has no active RDMA port");
    return false;
}

static void look_at_peermem(const struct preflight_node *node,
                            const struct preflight_use *use,
                            struct preflight_result *result)
{
    const json_t *modules = member(node, "modules");

    (void)use;
    if (!has_gpus(node, result) || !has_active_port(node, result) || !modules)
        return;
    pass(result);
    if (!json_object_get(modules, "nvidia_peermem") &&
        !json_object_get(modules, "nv_peer_mem") && !has_dma_buf(node))
        find(result, "", "nvidia_peermem is not loaded: no HCA can reach a GPU's memory");
}

static void look_at_cgroup(const struct preflight_node *node,
                           const struct preflight_use *use,
                           struct preflight_result *result)
{
    const json_t *limits = member(node, "limits");
    double cpus = json_get_num(limits, "cgroup_cpus", 0);
    const char *list = json_get_str(node->inventory, "cpus", "");
    unsigned first, last, n = 0;

    (void)use;
    while (cpu_list_next(&list, &first, &last))
        n += last - first + 1;
    if (limits && n > 0)
        pass(result);
    if (cpus > 0 && cpus < n)
        find(result, "", "the agent's cgroup allows only %g of %u CPUs", cpus, n);
}

/* ---- Versions and clocks ---- */

static void gather_version(const struct preflight_node *node,
                           struct preflight_facts *facts)
{
    add_fact(facts, "the version of ringbench", node->version, "");
}

static const struct preflight_common of_nccl[] = {
    {"the NVIDIA driver", "modules.nvidia"},
    {"NCCL", "backends.nccl.nccl_version"},
    {"the CUDA driver", "backends.nccl.cuda_driver"},
    {"the CUDA runtime", "backends.nccl.cuda_runtime"},
    {NULL, NULL},
};

/* Check the versions of CUDA. An older driver is sufficient within the same major version
 * of CUDA. */
static void look_at_cuda(const struct preflight_node *node,
                         const struct preflight_use *use, struct preflight_result *result)
{
    const char *runtime = json_get_str(nccl_of(node), "cuda_runtime", NULL);
    const char *driver = json_get_str(nccl_of(node), "cuda_driver", NULL);
    const char *built = json_get_str(nccl_of(node), "nccl_cuda", NULL);

    (void)use;
    if (!runtime || !driver)
        return;
    pass(result);
    if (strtol(runtime, NULL, 10) > strtol(driver, NULL, 10))
        find(result, runtime, "the CUDA runtime is %.20s, the driver supports %.20s",
             runtime, driver);
    if (built && strtol(built, NULL, 10) > strtol(driver, NULL, 10))
        find(result, built, "NCCL is built for CUDA %.20s, the driver supports %.20s",
             built, driver);
}

static void look_at_clock(const struct preflight_node *node,
                          const struct preflight_use *use,
                          struct preflight_result *result)
{
    (void)use;
    snprintf(result->sentence, sizeof(result->sentence), "no run has used the node yet");
    if (!node->has_clock)
        return;
    pass(result);
    if (fabs(node->ahead_s) > CLOCK_APART_S)
        find(result, "", "the node's clock is %.1f s %s the server's",
             fabs(node->ahead_s), node->ahead_s > 0 ? "ahead of" : "behind");
}

/* ---- Values with a bound ---- */

static bool is_within(const struct preflight_value *rule, const json_t *value)
{
    const char *text = json_string_value(value);

    switch (rule->bound) {
    case PREFLIGHT_AT_LEAST:
        return !json_is_number(value) || json_number_value(value) >= rule->number;
    case PREFLIGHT_AT_MOST:
        return !json_is_number(value) || json_number_value(value) <= rule->number;
    case PREFLIGHT_IS:
        return !text || strcmp(text, rule->text) == 0;
    case PREFLIGHT_BEGINS_NOT:
        return !text || strncmp(text, rule->text, strlen(rule->text)) != 0;
    }
    return true;
}

/* Check a value. object: the node's inventory, or one of the node's GPUs. */
static void look_at_value(const struct preflight_value *rule, const json_t *object,
                          const char *subject, struct preflight_result *result)
{
    const json_t *value = template_find(object, rule->path);
    struct buf sentence;
    json_t *members;

    if (!value)
        return;
    pass(result);
    if (is_within(rule, value))
        return;
    members = json_pack("{s:O, s:s}", "value", value, "subject", subject);
    buf_init(&sentence, sizeof(result->sentence));
    template_render(rule->sentence, members, NULL, &sentence);
    find(result, rule->is_of_gpu ? subject : "", "%s",
         sentence.data ? sentence.data : "");
    buf_release(&sentence);
    json_decref(members);
}

static void look_at_values(const struct preflight_value *rule,
                           const struct preflight_node *node,
                           struct preflight_result *result)
{
    const json_t *gpus = member(node, "gpus");

    if (rule->applies && !rule->applies(node, result))
        return;
    if (!rule->is_of_gpu)
        look_at_value(rule, node->inventory, "", result);
    for (size_t i = 0; rule->is_of_gpu && i < json_array_size(gpus); i++)
        look_at_value(rule, json_array_get(gpus, i), place_of(json_array_get(gpus, i)),
                      result);
}

bool preflight_gather(const struct preflight_check *check,
                      const struct preflight_node *node, struct preflight_facts *facts)
{
    const struct preflight_common *common = check->common;

    for (; common && common->path; common++)
        add_fact(facts, common->what,
                 json_string_value(template_find(node->inventory, common->path)), "");
    if (check->gather)
        check->gather(node, facts);
    return check->gather || check->common;
}

void preflight_look(const struct preflight_check *check,
                    const struct preflight_node *node, const struct preflight_use *use,
                    struct preflight_result *result)
{
    *result = (struct preflight_result){
        .answer = VERDICT_NOT_EVALUATED,
        .sentence = "the node's agent does not report this value"};
    if (check->look)
        check->look(node, use, result);
    else
        look_at_values(&check->value, node, result);
}

/* clang-format off */
const struct preflight_check preflight_checks[] = {
    {"versions", "error", PREFLIGHT_ALL, "install ringbench {most} on this node", .gather = gather_version},
    {"nccl_versions", "error", PREFLIGHT_NCCL, "install the version that most nodes have, or select one library for all nodes with nccl_lib", .common = of_nccl},
    {"cuda", "error", PREFLIGHT_NCCL, "install a driver for CUDA {} or newer, or a libcudart and libnccl for an older CUDA", .look = look_at_cuda},
    {"rdma_port", "warn", PREFLIGHT_NCCL, "mlxlink -d {} --port_state UP", .gather = preflight_gather_ports, .is_hardware = true, .good = "active", .concerns = preflight_is_port_wanted},
    {"rdma_gid", "error", PREFLIGHT_NCCL, "ip address add ADDRESS/PREFIX dev {}", .look = preflight_look_at_gids},
    {"gid_index", "warn", PREFLIGHT_NCCL, "show_gids; add the addresses to the interface of {} in the same order as on other nodes", .gather = preflight_gather_gids},
    {"mtu", "warn", PREFLIGHT_HOST | PREFLIGHT_NCCL, "ip link set dev {} mtu {most}", .gather = preflight_gather_mtus},
    {"interface", "error", PREFLIGHT_NCCL, "\"env\": {\"NCCL_SOCKET_IFNAME\": \"={}\"} in the run", .look = preflight_look_at_choice},
    {"gpus", "warn", PREFLIGHT_HOST | PREFLIGHT_NCCL, "give the agent all GPUs of the node: unset CUDA_VISIBLE_DEVICES; srun --gpus-per-node=N --gpu-bind=none in a Slurm job; docker run --gpus all", .look = look_at_usable},
    {"gpu_count", "warn", PREFLIGHT_HOST | PREFLIGHT_NCCL, "lspci -d 10de: ; dmesg | grep -i xid; power-cycle the node to recover a GPU that fell off the bus", .gather = gather_gpu_count, .is_hardware = true},
    {"pcie", "warn", PREFLIGHT_NCCL, "lspci -vv -s {}; reseat the device, or check the settings of the slot in the BIOS", .look = look_at_pcie},
    {"nvlink", "warn", PREFLIGHT_NCCL, "nvidia-smi nvlink -s -i {}; nvidia-smi nvlink -e -i {}: these show the inactive link and its errors", .look = look_at_nvlink},
    {"nvlinks", "warn", PREFLIGHT_NCCL, "nvidia-smi nvlink -s; nvidia-smi nvlink -e: these show the inactive links and their errors", .gather = gather_nvlinks, .is_hardware = true},
    {"slowed", "warn", PREFLIGHT_NCCL, "nvidia-smi -q -d PERFORMANCE,TEMPERATURE -i {}; check the cooling and power of the GPU", .look = look_at_slowed},
    {"ecc", "error", PREFLIGHT_NCCL, "nvidia-smi -q -d ECC,ROW_REMAPPER -i {}; nvidia-smi -r -i {} while the GPU is idle", .value = {"now.ecc_errors", PREFLIGHT_AT_MOST, 0, .is_of_gpu = true, .applies = is_for_nvml, .sentence = "the memory of GPU {subject} had {value} uncorrectable error{value:/s}"}},
    {"fabric", "error", PREFLIGHT_NCCL, "systemctl restart nvidia-fabricmanager", .value = {"fabric", PREFLIGHT_IS, .text = "completed", .is_of_gpu = true, .applies = is_for_nvml, .sentence = "the fabric of GPU {subject} is {value}"}},
    {"acs", "warn", PREFLIGHT_NCCL, "setpci -s {} ECAP_ACS+6.w=0000, for each bridge", .look = look_at_acs},
    {"iommu", "warn", PREFLIGHT_NCCL, "iommu=pt on the kernel's command line", .value = {"iommu", PREFLIGHT_BEGINS_NOT, .text = "DMA", .applies = has_peers, .sentence = "the IOMMU translates traffic between devices ({value})"}},
    {"peermem", "warn", PREFLIGHT_NCCL, "modprobe nvidia_peermem", .look = look_at_peermem},
    {"memlock", "error", PREFLIGHT_NCCL, "LimitMEMLOCK=infinity in the agent's unit, or docker run --ulimit memlock=-1", .value = {"limits.memlock_bytes", PREFLIGHT_AT_LEAST, MEMLOCK_LEAST, .applies = has_active_port, .sentence = "only {value:bytes} of memory may be locked, and RDMA locks its memory"}},
    {"shm", "error", PREFLIGHT_NCCL, "mount -o remount,size=50% /dev/shm, or docker run --shm-size=16g", .value = {"limits.shm_bytes", PREFLIGHT_AT_LEAST, SHM_LEAST, .sentence = "/dev/shm has only {value:bytes}, but a node's ranks exchange data there"}},
    {"open_files", "error", PREFLIGHT_HOST | PREFLIGHT_NCCL, "LimitNOFILE=1048576 in the agent's unit, or ulimit -Hn 1048576 before it starts", .value = {"limits.open_files", PREFLIGHT_AT_LEAST, FILES_LEAST, .sentence = "a process may open only {value} files"}},
    {"cgroup", "warn", PREFLIGHT_HOST | PREFLIGHT_NCCL, "give the job or container all CPUs of the node", .look = look_at_cgroup},
    {"governor", "warn", PREFLIGHT_NCCL, "cpupower frequency-set -g performance", .value = {"governor", PREFLIGHT_IS, .text = "performance", .sentence = "the CPUs' governor is {value}"}},
    {"numa_balancing", "warn", PREFLIGHT_NCCL, "sysctl -w kernel.numa_balancing=0", .value = {"numa_balancing", PREFLIGHT_AT_MOST, 0, .sentence = "the kernel moves pages between NUMA nodes"}},
    {"clock", "warn", PREFLIGHT_HOST | PREFLIGHT_NCCL, "chronyc makestep", .look = look_at_clock},
};
/* clang-format on */

const size_t preflight_n_checks = sizeof(preflight_checks) / sizeof(preflight_checks[0]);
