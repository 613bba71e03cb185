/* SPDX-License-Identifier: Apache-2.0 */
/* node_devices.jsx - a node's devices and system settings, in cards that open */
import { Facts, Fold, Lines, Table } from '../parts.jsx';
import { formatMemory, plural } from '../units.mjs';

const WORDS = { infiniband: 'InfiniBand', ethernet: 'Ethernet' };
const pcie = ({ pcie: link }) =>
  link &&
  `x${link.width}${link.width < link.width_max ? ` of ${link.width_max}` : ''}, ${link.gts}${
    link.gts < link.gts_max ? ` of ${link.gts_max}` : ''
  } GT/s`;
const links = ({ nvlink }) =>
  nvlink && `${nvlink.active}${nvlink.inactive.length ? `, inactive: ${nvlink.inactive.join(', ')}` : ''}`;
const MODES = { ecc: 'ECC', mig: 'MIG', persistence: 'persistence' };
const modes = (gpu) =>
  Object.keys(MODES)
    .filter((name) => gpu[name])
    .map((name) => MODES[name])
    .join(', ');
const gids = (port) =>
  port.gids
    .map(({ index, type, address }) => `${index} ${type} ${address}`)
    .concat(port.gids_left_out ? `and ${port.gids_left_out} more` : []);

/* "link_downed 2" */
const errors = (port) => Object.entries(port.errors ?? {}).map(([name, count]) => `${name} ${count}`);

/* `list` is the member of the inventory. Columns are [heading, value, is a number]. */
const GROUPS = [
  {
    list: 'gpus',
    title: 'GPUs',
    columns: [
      ['PCI', (gpu) => gpu.pci],
      ['GPU', (gpu) => gpu.name],
      ['PCIe', pcie],
      ['NUMA', (gpu) => gpu.numa, true],
      ['NVLinks', links, true],
      ['Modes', modes],
      ['Throttled by', (gpu) => gpu.now?.slowed_by?.join(', ')],
      ['Fabric', (gpu) => gpu.fabric],
      ['PCIe bridges with ACS', (gpu) => gpu.acs?.join(', ')],
    ],
  },
  {
    list: 'rdma',
    title: 'RDMA ports',
    columns: [
      ['Port', (port) => `${port.name}:${port.port}`],
      ['State', (port) => port.state],
      ['Gb/s', (port) => port.rate_gbps, true],
      ['Link', (port) => WORDS[port.link_layer] ?? port.link_layer],
      ['Interface', (port) => port.netdev],
      ['PCIe', pcie],
      ['NUMA', (port) => port.numa, true],
      ['Firmware', (port) => port.firmware],
      ['Errors', errors],
      ['GIDs', gids],
    ],
  },
  {
    list: 'net',
    title: 'Interfaces',
    columns: [
      ['Name', (net) => net.name],
      ['Kind', (net) => WORDS[net.kind] ?? net.kind],
      ['State', (net) => net.state],
      ['Mb/s', (net) => net.speed_mbps, true],
      ['MTU', (net) => net.mtu, true],
      ['Driver', (net) => net.driver],
      ['Addresses', (net) => net.addresses],
    ],
  },
];

const SETTINGS = {
  governor: 'Governor',
  iommu: 'IOMMU',
  numa_balancing: 'NUMA balancing',
  nvidia_module: 'NVIDIA module',
  nccl_conf: 'nccl.conf',
};
const LIMITS = {
  memlock_bytes: 'Locked memory limit',
  shm_bytes: '/dev/shm',
  open_files: 'Open files',
  cgroup_memory_bytes: 'cgroup memory limit',
  cgroup_cpus: 'cgroup CPU limit',
  cgroup_processes: 'cgroup process limit',
};

const Devices = ({ title, columns, devices, leftOut }) => (
  <Fold
    title={title}
    note={
      <span class="muted">
        {devices.length}
        {leftOut ? `, and ${leftOut} more` : ''}
      </span>
    }
  >
    <Table
      label={title}
      columns={columns.map(([name]) => name)}
      isNumber={(i) => columns[i][2]}
      rows={devices.map((device) => columns.map(([, value]) => <Lines value={value(device)} />))}
    />
  </Fold>
);

const limitInWords = (name, value) =>
  name.endsWith('_bytes') && typeof value === 'number' ? formatMemory(value) : value;

function System({ inventory }) {
  const { limits = {}, modules = {} } = inventory;
  const rows = [
    ...Object.entries(SETTINGS).map(([name, title]) => [title, inventory[name]]),
    ...Object.entries(LIMITS).map(([name, title]) => [
      title,
      limits[name] && limitInWords(name, limits[name]),
    ]),
    ...Object.entries(modules).map(([name, version]) => [name, version || 'loaded']),
  ].filter(([, value]) => value !== undefined);
  return (
    rows.length > 0 && (
      <Fold title="System" note={<span class="muted">{plural(rows.length, 'setting')}</span>}>
        <Facts rows={rows} />
      </Fold>
    )
  );
}

/* A card per list that the agent reports. */
export const NodeDevices = ({ inventory }) => (
  <div class="stack">
    {GROUPS.filter(({ list }) => inventory[list]?.length).map(({ list, ...group }) => (
      <Devices key={list} {...group} devices={inventory[list]} leftOut={inventory.left_out?.[list]} />
    ))}
    <System inventory={inventory} />
  </div>
);
