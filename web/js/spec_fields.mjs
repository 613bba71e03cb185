/* spec_fields.mjs - the fields of the new-run form, as data. What is allowed and what a
 * blank field means is the server's to say: the hints only tell people what to type. */

const COLLECTIVES = [
    'all_reduce', 'all_gather', 'reduce_scatter', 'broadcast', 'reduce', 'alltoall',
    'gather', 'scatter', 'sendrecv'
];
const DTYPES = [
    'float32', 'float64', 'float16', 'bfloat16', 'int8', 'uint8', 'int32', 'uint32',
    'int64', 'uint64', 'float8e4m3', 'float8e5m2'
];
const REDOPS = ['sum', 'prod', 'min', 'max', 'avg'];

/* kind: text, number, choice (one of), several (any of), list (comma separated),
 * pairs (KEY=VALUE lines), nodes (the nodes that are here). `when` shows a field only
 * beside that value of another one. */
export const GROUPS = [
    {
        title: 'What to measure',
        fields: [
            {
                id: 'collectives',
                pointer: '/collectives',
                kind: 'several',
                label: 'Collectives',
                options: COLLECTIVES,
                help: 'None chosen: all_reduce.'
            },
            {
                id: 'sizes_mode',
                pointer: '/sizes',
                kind: 'choice',
                label: 'Sizes',
                options: [
                    ['factor', 'from … to, times a factor'],
                    ['step', 'from … to, plus a step'], ['list', 'a list']
                ]
            },
            {
                id: 'sizes_min',
                pointer: '/sizes/min',
                kind: 'text',
                label: 'Smallest',
                hint: '8',
                unit: 'bytes',
                when: ['sizes_mode', ['factor', 'step']],
                help: 'K, M, G and T are powers of 1024: 64K, 1G.'
            },
            {
                id: 'sizes_max',
                pointer: '/sizes/max',
                kind: 'text',
                label: 'Largest',
                hint: '128M',
                unit: 'bytes',
                when: ['sizes_mode', ['factor', 'step']]
            },
            {
                id: 'sizes_factor',
                pointer: '/sizes/factor',
                kind: 'number',
                label: 'Factor',
                hint: '2',
                when: ['sizes_mode', ['factor']]
            },
            {
                id: 'sizes_step',
                pointer: '/sizes/step',
                kind: 'text',
                label: 'Step',
                hint: '1M',
                unit: 'bytes',
                when: ['sizes_mode', ['step']]
            },
            {
                id: 'sizes_list',
                pointer: '/sizes',
                kind: 'list',
                label: 'Sizes',
                hint: '8, 64K, 1M, 1G',
                unit: 'bytes',
                when: ['sizes_mode', ['list']]
            },
            {
                id: 'in_place',
                pointer: '/in_place',
                kind: 'choice',
                label: 'Placement',
                options: [['', 'both'], ['false', 'out of place'], ['true', 'in place']]
            }
        ]
    },
    {
        title: 'Where',
        fields: [
            {
                id: 'backend',
                pointer: '/backend',
                kind: 'choice',
                label: 'Backend',
                options: [
                    ['', 'auto: nccl where there are GPUs, else host'],
                    ['nccl', 'nccl: GPU memory'], ['host', 'host: CPU memory'],
                    ['sim', 'sim: a model, no bytes move']
                ]
            },
            {
                id: 'nodes_mode',
                pointer: '/nodes',
                kind: 'choice',
                label: 'Nodes',
                options: [
                    ['', 'all that are idle'], ['count', 'so many'], ['names', 'these'],
                    ['group', 'a group'], ['labels', 'by label']
                ]
            },
            {
                id: 'nodes_count',
                pointer: '/nodes/count',
                kind: 'number',
                label: 'How many',
                hint: '4',
                unit: 'nodes',
                when: ['nodes_mode', ['count', 'group', 'labels']]
            },
            {
                id: 'nodes_names',
                pointer: '/nodes/names',
                kind: 'nodes',
                label: 'Which',
                when: ['nodes_mode', ['names']]
            },
            {
                id: 'nodes_group',
                pointer: '/nodes/group',
                kind: 'text',
                label: 'Group',
                hint: 'slurm-8123',
                when: ['nodes_mode', ['group']]
            },
            {
                id: 'nodes_labels',
                pointer: '/nodes/labels',
                kind: 'pairs',
                label: 'Node labels',
                hint: 'rack=7',
                when: ['nodes_mode', ['labels']]
            },
            {
                id: 'nodes_wait_s',
                pointer: '/nodes/wait_s',
                kind: 'number',
                label: 'Wait for them',
                unit: 'seconds'
            },
            {
                id: 'ranks_per_node',
                pointer: '/ranks_per_node',
                kind: 'number',
                label: 'Ranks per node',
                hint: 'all',
                unit: 'ranks'
            }
        ]
    },
    {
        title: 'Name it',
        fields: [
            {
                id: 'name',
                pointer: '/name',
                kind: 'text',
                label: 'Name',
                hint: 'after the switch update'
            },
            {
                id: 'labels',
                pointer: '/labels',
                kind: 'pairs',
                label: 'Labels',
                hint: 'ticket=NET-12',
                help: 'One KEY=VALUE a line, to find the run by.'
            }
        ]
    },
    {
        title: 'How to measure',
        closed: true,
        fields: [
            {
                id: 'dtypes',
                pointer: '/dtypes',
                kind: 'several',
                label: 'Data types',
                options: DTYPES,
                help: 'None chosen: float32.'
            },
            {
                id: 'redops',
                pointer: '/redops',
                kind: 'several',
                label: 'Reductions',
                options: REDOPS,
                help: 'None chosen: sum.'
            },
            {
                id: 'root',
                pointer: '/root',
                kind: 'number',
                label: 'Root',
                hint: '0',
                help: 'Of broadcast, reduce, gather, scatter. -1: every rank in turn.'
            },
            {
                id: 'timing',
                pointer: '/timing',
                kind: 'choice',
                label: 'Timing',
                options: [
                    ['', 'throughput: calls back to back'],
                    ['isolated', 'isolated: each call by itself']
                ]
            },
            {
                id: 'iters',
                pointer: '/iters',
                kind: 'number',
                label: 'Timed calls',
                hint: '20',
                unit: 'per size'
            },
            {
                id: 'warmup',
                pointer: '/warmup',
                kind: 'number',
                label: 'Warm-up calls',
                hint: '5',
                unit: 'per size'
            },
            {
                id: 'agg_iters',
                pointer: '/agg_iters',
                kind: 'number',
                label: 'Calls per group',
                hint: '1'
            },
            {
                id: 'check',
                pointer: '/check',
                kind: 'number',
                label: 'Check the data',
                hint: '1',
                help: '1: every element of every rank. 0: not at all.'
            },
            {
                id: 'repeats',
                pointer: '/repeats',
                kind: 'number',
                label: 'Repeats',
                hint: '1',
                help: 'New processes each time; the spread shows in the chart.'
            }
        ]
    },
    {
        title: 'Environment and limits',
        closed: true,
        fields: [
            {
                id: 'env',
                pointer: '/env',
                kind: 'pairs',
                label: 'Environment',
                hint: 'NCCL_DEBUG=INFO',
                help: 'One NAME=VALUE a line, for every rank.'
            },
            {
                id: 'timeout_s',
                pointer: '/timeout_s',
                kind: 'number',
                label: 'Time limit',
                hint: '600',
                unit: 'seconds'
            },
            {
                id: 'stall_s',
                pointer: '/stall_s',
                kind: 'number',
                label: 'Stall limit',
                hint: '30',
                unit: 'seconds',
                help: 'No progress of a rank for so long ends the case.'
            }
        ]
    }
];

export const FIELDS = GROUPS.flatMap(group => group.fields);
