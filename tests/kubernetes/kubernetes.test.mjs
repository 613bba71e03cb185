// SPDX-License-Identifier: Apache-2.0
// kubernetes.test.mjs - what kubectl makes of deploy/kubernetes is what the API takes: no unknown
// field, each of its type (by the types that are published of the API), and fits together
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';
import { parseAllDocuments } from 'yaml';

const here = path.dirname(fileURLToPath(import.meta.url));
const deploy = path.resolve(here, '../../deploy/kubernetes');
const types = path.join(here, 'node_modules/kubernetes-types');
const overlays = fs.readdirSync(path.join(deploy, 'overlays'));
const noKubectl = spawnSync('kubectl', ['kustomize', '--help']).status !== 0 && 'no kubectl';

// kustomize(FOLDER): the objects of the kustomization there.
function kustomize(folder) {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

// The compiler's objections to an object as a literal of its kind's type.
function objections(object) {
  const file = path.join(here, 'object.ts');
  const folder = object.apiVersion.replace(
    /^(?:([a-z]+)[a-z0-9.]*\/)?/,
    (_all, group = 'core') => `${group}/`,
  );
  const text =
    `import { ${object.kind} as Kind } from '${types}/${folder}';\n` +
    `export const object: Kind = ${JSON.stringify(object)};\n`;
  const options = { strict: true, noEmit: true, types: [] };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, text, ...rest) : getSourceFile(name, ...rest);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .map((found) => ts.flattenDiagnosticMessageText(found.messageText, ' '));
}

const agentOf = (overlay) =>
  kustomize(path.join(deploy, 'overlays', overlay)).find(
    (object) => object.metadata.name === 'ringbench-agent',
  );

test('objects of every overlay are of the API', { skip: noKubectl }, () => {
  assert.deepEqual(overlays.sort(), ['gpu', 'gpu-job', 'host', 'host-job']);
  const kinds = overlays.map((overlay) =>
    kustomize(path.join(deploy, 'overlays', overlay))
      .map((object) => {
        assert.deepEqual(objections(object), [], `${overlay}: ${object.kind}`);
        assert.equal(object.metadata.namespace, 'ringbench');
        return object.kind;
      })
      .sort()
      .join(),
  );
  const all = 'DaemonSet,Deployment,PersistentVolumeClaim,Service,Service';
  assert.deepEqual(kinds, [all, 'Job', all, 'Job']);
});

test('what the API does not know is found', { skip: noKubectl }, () => {
  const agent = agentOf('host');
  agent.spec.template.spec.containers[0].imagePullPolice = 'Always';
  assert.match(objections(agent).join(), /imagePullPolice/);
});

test('a selector finds the pods of its template', { skip: noKubectl }, () => {
  for (const { kind, spec } of kustomize(path.join(deploy, 'overlays/gpu')))
    if (spec.template) assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels, kind);
});

test('agents on GPUs have them all, and may pin memory', { skip: noKubectl }, () => {
  for (const overlay of ['gpu', 'gpu-job']) {
    const {
      containers: [container],
      securityContext,
      volumes,
      hostNetwork,
    } = agentOf(overlay).spec.template.spec;
    assert.equal(container.image, 'ringbench-cuda:latest');
    assert.deepEqual(container.resources.limits, { 'nvidia.com/gpu': '8', 'rdma/hca': '1' });
    assert.deepEqual(container.securityContext.capabilities, { add: ['IPC_LOCK'], drop: ['ALL'] });
    assert.equal(securityContext.runAsUser, 0);
    assert.ok(volumes.some(({ name, emptyDir }) => name === 'shm' && emptyDir.medium === 'Memory'));
    assert.equal(hostNetwork, true);
  }
  const host = agentOf('host').spec.template.spec;
  assert.equal(host.securityContext.runAsNonRoot, true);
  assert.equal(host.containers[0].resources.limits, undefined);
});

test('a job has a pod of each index, on nodes of their own', { skip: noKubectl }, () => {
  const { spec } = agentOf('gpu-job');
  assert.equal(spec.completionMode, 'Indexed');
  assert.equal(spec.completions, spec.parallelism);
  assert.equal(spec.template.spec.restartPolicy, 'Never');
  assert.equal(
    spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey,
    'kubernetes.io/hostname',
  );
  const [container] = spec.template.spec.containers;
  assert.deepEqual(
    container.env.find(({ name }) => name === 'RINGBENCH_IDLE_EXIT'),
    { name: 'RINGBENCH_IDLE_EXIT', value: '600' },
  );
  assert.equal(container.env.filter(({ name }) => name === 'RINGBENCH_GROUP').length, 1);
});

test('pods may have a network of their own', { skip: noKubectl }, (t) => {
  const folder = fs.mkdtempSync(path.join(deploy, 'test-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  fs.writeFileSync(
    path.join(folder, 'kustomization.yaml'),
    'resources: [../overlays/gpu]\ncomponents: [../pod-network]\n',
  );
  const agent = kustomize(folder).find(({ kind }) => kind === 'DaemonSet').spec.template.spec;
  assert.equal(agent.hostNetwork, undefined);
  assert.equal(agent.containers[0].env[1].valueFrom.fieldRef.fieldPath, 'status.podIP');
});

test('a server may get nodes of its own cluster', { skip: noKubectl }, (t) => {
  const folder = fs.mkdtempSync(path.join(deploy, 'test-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  fs.writeFileSync(
    path.join(folder, 'kustomization.yaml'),
    'resources: [../overlays/gpu]\ncomponents: [../launcher]\n',
  );
  const objects = kustomize(folder);
  for (const object of objects) {
    assert.deepEqual(objections(object), [], object.kind);
    assert.equal(object.metadata.namespace, 'ringbench', object.kind);
  }
  const one = (wanted) => objects.find(({ kind }) => kind === wanted);
  const {
    containers: [server],
    volumes,
    serviceAccountName,
    automountServiceAccountToken,
  } = one('Deployment').spec.template.spec;
  assert.ok(server.command.includes('--launchers=/launchers'));
  assert.ok(automountServiceAccountToken);
  assert.equal(serviceAccountName, one('ServiceAccount').metadata.name);
  assert.deepEqual(one('RoleBinding').subjects, [
    { kind: 'ServiceAccount', name: serviceAccountName, namespace: 'ringbench' },
  ]);
  const mounted = volumes.find(({ name }) => name === 'launchers').configMap;
  assert.equal(mounted.name, one('ConfigMap').metadata.name);
  assert.equal(mounted.defaultMode, 0o555);
  assert.deepEqual(Object.keys(one('ConfigMap').data).sort(), ['kube-agents', 'kubernetes.json']);
});

// What asks the API is a stand-in's, which answers with what was said, or is not there; what is
// made of the overlay is kubectl's own.
const standIn = `#!/bin/bash
real=$(PATH=\${PATH#*:} command -v kubectl)
echo "$*" >>"$CALLS"
case "$*" in
kustomize* | patch* | *--dry-run=client*) exec "$real" "$@" ;;
*create*jsonpath*) cat >"$CALLS.job"; echo 0c3f-uid ;;
*create*) [[ ! -e "$CALLS.refused" ]] || { cat >/dev/null; echo 'forbidden' >&2; exit 1; }; cat >"$CALLS.secret" ;;
*get*) [[ ! -e "$CALLS.down" ]] || { echo 'connection refused' >&2; exit 1; } ;;&
*"get job"*metadata.name*) [[ ! -e "$CALLS.job" ]] || echo ringbench-06cw ;;
*"get job"*) [[ ! -e "$CALLS.job" ]] || { echo 'it is there'; cat "$CALLS.end"; } ;;
*phase=Pending*) cat "$CALLS.waits" ;;
*pods*) cat "$CALLS.pods" ;;
esac
`;

test('the launcher makes a Job of its own of an overlay, and tells what becomes of it', {
  skip: noKubectl,
}, (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ringbench-kube-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  fs.writeFileSync(path.join(folder, 'kubectl'), standIn, { mode: 0o755 });
  fs.writeFileSync(path.join(folder, 'token'), 'secret');
  const calls = path.join(folder, 'calls');
  const say = (name, text) => fs.writeFileSync(`${calls}.${name}`, text);
  const variables = { RINGBENCH_SERVER: 'http://head:8080', RINGBENCH_GROUP: 'job-06cw' };
  const run = (...args) =>
    spawnSync(path.resolve(deploy, '../launchers.d/kube-agents'), args, {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${folder}:${process.env.PATH}`, CALLS: calls, ...variables },
    });
  const ask = (...args) => {
    const { status, stdout, stderr } = run(...args);
    assert.equal(status, 0, stderr);
    return stdout.trim();
  };
  // Without what is null: kubectl writes it, and the API takes it for nothing.
  const made = (name) =>
    parseAllDocuments(fs.readFileSync(`${calls}.${name}`, 'utf8')).map((document) =>
      JSON.parse(JSON.stringify(document.toJS(), (_key, value) => value ?? undefined)),
    );

  assert.equal(ask('find', 'ringbench-06cw'), '');
  assert.equal(ask('status', 'ringbench-06cw'), '');
  // Of a server that asks for no tokens.
  const start = () => assert.equal(ask('start', 'ringbench-06cw', '3', 'gpu-job', '720'), 'ringbench-06cw');
  start();
  const [open] = made('job');
  assert.deepEqual(objections(open), []);
  assert.deepEqual(
    open.spec.template.spec.volumes.find(({ name }) => name === 'token'),
    { name: 'token', emptyDir: {} },
  );
  assert.ok(!open.spec.template.spec.containers[0].env.some(({ name }) => name === 'RINGBENCH_TOKEN_FILE'));
  assert.ok(!fs.existsSync(`${calls}.secret`));

  variables.RINGBENCH_TOKEN_FILE = path.join(folder, 'token');
  variables.RINGBENCH_CA_FILE = path.join(folder, 'token');
  start();
  assert.equal(ask('find', 'ringbench-06cw'), 'ringbench-06cw');
  const [job] = made('job');
  assert.deepEqual(objections(job), []);
  assert.equal(job.metadata.name, 'ringbench-06cw');
  assert.deepEqual([job.spec.completions, job.spec.parallelism], [3, 3]);
  const {
    containers: [agent],
    volumes,
  } = job.spec.template.spec;
  const env = Object.fromEntries(agent.env.map(({ name, value }) => [name, value]));
  assert.deepEqual(
    [env.RINGBENCH_SERVER, env.RINGBENCH_GROUP, env.RINGBENCH_IDLE_EXIT],
    ['http://head:8080', 'job-06cw', '720'],
  );
  assert.doesNotMatch(agent.command.join(' '), /--server|--token/);
  const mounted = volumes.find(({ name }) => name === 'token').secret;
  assert.equal(mounted.secretName, 'ringbench-06cw');
  assert.deepEqual(
    [env.RINGBENCH_TOKEN_FILE, env.RINGBENCH_CA_FILE],
    mounted.items.map((item) => `/secrets/${item.path}`),
  );
  const [secret] = made('secret');
  assert.deepEqual(objections(secret), []);
  for (const { key } of mounted.items)
    assert.equal(Buffer.from(secret.data[key], 'base64').toString(), 'secret');
  assert.deepEqual(secret.metadata.ownerReferences, [
    { apiVersion: 'batch/v1', kind: 'Job', name: 'ringbench-06cw', uid: '0c3f-uid' },
  ]);

  say('end', '');
  say('pods', 'Running\nPending\n');
  say('waits', '0/4 nodes are available: 4 Insufficient nvidia.com/gpu.');
  assert.equal(
    ask('status', 'ringbench-06cw'),
    'PENDING 1 pods run; 0/4 nodes are available: 4 Insufficient nvidia.com/gpu.',
  );
  say('pods', 'Running\nRunning\n');
  assert.equal(ask('status', 'ringbench-06cw'), 'RUNNING 2 pods');
  // Between tries there is no pod that runs, and no end.
  say('pods', 'Failed\n');
  say('waits', '');
  assert.equal(ask('status', 'ringbench-06cw'), 'PENDING 0 pods run; the others have not started');
  say('end', 'FailureTarget soon\nFailed Job has reached the specified backoff limit\n');
  assert.equal(ask('status', 'ringbench-06cw'), 'Failed Job has reached the specified backoff limit');
  say('down', '');
  for (const command of ['status', 'find']) {
    assert.notEqual(run(command, 'ringbench-06cw').status, 0);
    assert.equal(run(command, 'ringbench-06cw').stdout, '');
  }
  // Pods would wait for ever for a secret that is refused.
  say('refused', '');
  const refused = run('start', 'ringbench-17dx', '1', 'gpu-job', '720');
  assert.notEqual(refused.status, 0);
  assert.match(refused.stderr, /forbidden/);
  assert.match(fs.readFileSync(calls, 'utf8'), /delete job\/ringbench-17dx /);
  ask('stop', 'ringbench-06cw');
  assert.match(fs.readFileSync(calls, 'utf8'), /delete job\/ringbench-06cw secret\/ringbench-06cw /);
});
