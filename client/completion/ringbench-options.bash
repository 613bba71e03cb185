# SPDX-License-Identifier: Apache-2.0
# ringbench-options.bash - bash completion of the server, agent and simulator, from their --help
_ringbench_options() {
    mapfile -t COMPREPLY < <(
        compgen -W "$("$1" --help 2>/dev/null | grep -o '^  --[a-z-]*')" -- "$2")
}
complete -o default -F _ringbench_options ringbench-server ringbench-agent ringbench-sim
