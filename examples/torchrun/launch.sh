#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# launch.sh - starts one node's part of a PyTorch job that uses a ringbench server as rendezvous
#
#   launch.sh HOST:PORT JOB_ID NODES RANKS_PER_NODE PROGRAM [ARGUMENT]...
set -eu

endpoint=${1:?HOST:PORT of --rendezvous-listen} job=${2:?an id of this job alone} nodes=${3:?nodes} ranks=${4:?ranks per node}
shift 4
# is_host=0: no torchrun serves a store, because the server does.
exec torchrun --nnodes "$nodes" --nproc_per_node "$ranks" --rdzv_backend c10d --rdzv_endpoint "$endpoint" \
    --rdzv_conf is_host=0 --rdzv_id "$job" "$@"
