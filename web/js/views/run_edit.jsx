/* SPDX-License-Identifier: Apache-2.0 */
/* run_edit.jsx - dialog that changes a run's labels and notes */
import { useState } from 'preact/hooks';
import { Question } from '../ui.jsx';

const linesOf = (labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');

/* Labels from lines NAME=VALUE. */
function labelsOf(lines) {
  const pairs = lines.split('\n').map((line) => line.trim().split('='));
  return Object.fromEntries(
    pairs.filter(([name]) => name !== '').map(([name, ...value]) => [name.trim(), value.join('=').trim()]),
  );
}

/* Returns the JSON merge patch between two sets of labels. */
function patchOf(before, after) {
  const removed = Object.keys(before).filter((name) => !(name in after));
  const changed = Object.entries(after).filter(([name, value]) => before[name] !== value);
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null])]);
}

const faultsOf = (error) =>
  error.problem?.errors?.map(({ pointer, detail }) => `${pointer}: ${detail}`) ?? [error.message];

/* `onSave` gets the updated run. */
export function RunEdit({ api, run, onSave, onClose }) {
  const [labels, setLabels] = useState(linesOf(run.labels));
  const [notes, setNotes] = useState(run.notes);
  const [faults, setFaults] = useState([]);
  const save = async () => {
    try {
      const patch = {
        labels: patchOf(run.labels, labelsOf(labels)),
        notes: notes === run.notes ? undefined : notes,
      };
      onSave(await api.edit(run.id, patch));
      return true;
    } catch (error) {
      setFaults(faultsOf(error));
      return false;
    }
  };
  const area = (id, label, rows, value, set) => (
    <>
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        maxLength={4000}
        value={value}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
    </>
  );
  return (
    <Question
      title="Labels and notes"
      yes={
        <button type="submit" class="primary">
          Save
        </button>
      }
      act={save}
      onClose={onClose}
    >
      {area('edit-labels', 'Labels, one NAME=VALUE per line', 4, labels, setLabels)}
      {area('edit-notes', 'Notes', 6, notes, setNotes)}
      <div role="alert">
        {faults.map((text) => (
          <p class="field-error" key={text}>
            {text}
          </p>
        ))}
      </div>
    </Question>
  );
}
