# SPDX-License-Identifier: Apache-2.0
# ringbench.bash - bash completion of ringbench. The script itself lists the words.
_ringbench() {
    local word=${COMP_WORDS[COMP_CWORD]} command=
    [[ $COMP_CWORD -le 1 ]] || command=${COMP_WORDS[1]}
    mapfile -t COMPREPLY < <(
        compgen -W "$("${COMP_WORDS[0]}" words "$command" 2>/dev/null)" -- "$word")
}
complete -o default -F _ringbench ringbench
