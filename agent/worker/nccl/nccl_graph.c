/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_graph.c - capture calls in a CUDA graph and launch it repeatedly
 *
 * All ranks capture the same calls, so their graphs match. A graph must be destroyed
 * before the communicator, because ncclCommDestroy waits for graphs that hold its work.
 */
#include <assert.h>

#include "agent/worker/nccl/nccl_comm.h"

int comm_capture_begin(struct backend_comm *comm, struct error *err)
{
    assert(!comm->graph.exec && !comm->graph.is_capturing);
    int code =
        comm->cuda.call.capture_begin(comm->stream, CUDA_CAPTURE_THREAD_LOCAL_MODE);

    comm->graph.is_capturing = code == CUDA_SUCCESS_CODE;
    comm->graph.calls = 0;
    return comm_cuda(comm, code, "cudaStreamBeginCapture", err);
}

int comm_capture_end(struct backend_comm *comm, struct error *err)
{
    struct nccl_graph *graph = &comm->graph;

    graph->is_capturing = false;
    int code = comm->cuda.call.capture_end(comm->stream, &graph->graph);
    if (code)
        return comm_cuda(comm, code, "cudaStreamEndCapture", err);
    code = GUARDED(comm->watchdog, "cudaGraphInstantiate",
                   comm->cuda.call.graph_instantiate(&graph->exec, graph->graph, 0));
    return comm_cuda(comm, code, "cudaGraphInstantiate", err);
}

int comm_replay(struct backend_comm *comm, const struct backend_call *call,
                struct error *err)
{
    (void)call;
    int code = GUARDED(comm->watchdog, "cudaGraphLaunch",
                       comm->cuda.call.graph_launch(comm->graph.exec, comm->stream));

    if (code)
        return comm_cuda(comm, code, "cudaGraphLaunch", err);
    return backlog_add(comm, comm->graph.calls, err);
}

void comm_capture_drop(struct backend_comm *comm)
{
    struct nccl_graph *graph = &comm->graph;

    if (graph->exec) {
        GUARDED(comm->watchdog, "cudaGraphExecDestroy",
                comm->cuda.call.graph_exec_destroy(graph->exec));
    }
    if (graph->graph)
        comm->cuda.call.graph_destroy(graph->graph);
    *graph = (struct nccl_graph){0};
}
