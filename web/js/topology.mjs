/* topology.mjs - the tree of sockets, switches, GPUs and NICs out of the XML that NCCL
 * writes of a node (NVIDIA/nccl, src/graph/xml.cc) */

const attr = (element, name) => element.getAttribute(name) ?? '';

/* "16.0 GT/s PCIe" and "8" are "16 GT/s x8". */
function pciOf(pci) {
  const rate = Number.parseFloat(pci ? attr(pci, 'link_speed') : '');
  const link = rate > 0 ? `${rate} GT/s x${attr(pci, 'link_width') || '?'}` : null;
  return { bus: pci && attr(pci, 'busid'), link };
}

/* NVLinks by the PCI class of their ends. */
function nvlinksOf(gpu) {
  const counts = new Map();
  for (const link of gpu.querySelectorAll(':scope > nvlink')) {
    const type = attr(link, 'tclass');
    const end = type.startsWith('0x0680') ? 'NVSwitch' : type.startsWith('0x03') ? 'GPUs' : 'CPU';
    counts.set(end, (counts.get(end) ?? 0) + Number(attr(link, 'count')));
  }
  return [...counts].map(([end, count]) => `${count} to ${end}`).join(', ');
}

/* `pci`: the device that the element is of, or null. A GPU and a NIC are one part with it. */
function partsOf(element, pci) {
  return [...element.children].flatMap((one) => {
    switch (one.tagName) {
      case 'pci': {
        const parts = partsOf(one, one);
        const isPart = parts.length === 0 || attr(one, 'class').startsWith('0x06');
        const kind = parts.length === 0 ? 'device' : 'switch';
        return isPart ? [{ kind, name: kind, ...pciOf(one), parts }] : parts;
      }
      case 'nic':
        return partsOf(one, pci);
      case 'gpu':
        return [{ kind: 'gpu', name: `GPU ${attr(one, 'dev')}`, ...pciOf(pci), nvlinks: nvlinksOf(one) }];
      case 'net':
        return [
          {
            kind: 'nic',
            name: attr(one, 'name'),
            ...pciOf(pci),
            speed: `${Number(attr(one, 'speed')) / 1000} Gb/s`,
          },
        ];
      default:
        return [];
    }
  });
}

/** A node as a tree of parts {kind, name, bus, link, speed, nvlinks, parts}; unknown members are absent.
 * @param {string} xml */
export function treeOf(xml) {
  const root = new DOMParser().parseFromString(xml, 'text/xml').documentElement;
  return {
    name: 'node',
    parts: [...root.querySelectorAll(':scope > cpu')].map((cpu) => ({
      kind: 'socket',
      name: `socket ${attr(cpu, 'numaid')}`,
      parts: partsOf(cpu, null),
    })),
  };
}
