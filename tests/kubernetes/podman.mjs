// SPDX-License-Identifier: Apache-2.0
// podman.mjs FOLDER - what kubectl makes of the overlay host, as far as `podman kube play` (4.3)
// takes it: FOLDER has the tokens in place of the secret, the DaemonSet's pod is one of its own,
// and what a kubelet fills in stands there
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { parseAllDocuments, stringify } from 'yaml';

const secrets = path.resolve(process.argv[2]);
const overlay = fileURLToPath(new URL('../../deploy/kubernetes/overlays/host', import.meta.url));
const objects = parseAllDocuments(execFileSync('kubectl', ['kustomize', overlay], { encoding: 'utf8' })).map(
  (document) => document.toJS(),
);
const filledIn = { 'spec.nodeName': 'node-1', 'status.podIP': '127.0.0.1' };

// A service's name is nobody's here.
const here = (text) => text.replace('ringbench-head', '127.0.0.1');

function pod({ metadata, spec: { template } }) {
  const { containers, volumes } = template.spec;
  for (const container of containers) {
    container.command = container.command.map(here);
    delete container.ports; // the machine's own are used
    delete container.livenessProbe;
    delete container.readinessProbe;
    for (const variable of container.env || [])
      if (variable.valueFrom) {
        variable.value = filledIn[variable.valueFrom.fieldRef.fieldPath];
        delete variable.valueFrom;
      } else variable.value = here(variable.value);
  }
  for (const volume of volumes)
    if (volume.secret) {
      delete volume.secret;
      volume.hostPath = { path: secrets, type: 'Directory' };
    }
  delete template.spec.nodeSelector;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, name: metadata.name },
    spec: template.spec,
  };
}

for (const object of objects)
  if (object.kind === 'PersistentVolumeClaim') console.log(`${stringify(object)}---`);
  else if (object.spec.template) console.log(`${stringify(pod(object))}---`);
