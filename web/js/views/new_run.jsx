/* SPDX-License-Identifier: Apache-2.0 */
/* new_run.jsx - the form that starts a run. The server validates it while it is filled in. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api.mjs';
import { Field } from '../fields.jsx';
import { CopyBlock, CopyButton, Fold } from '../parts.jsx';
import { buildGroups } from '../spec_fields.mjs';
import { emptyForm, errorsByField, fromSpec, isShown, toSpec } from '../spec_form.mjs';
import { curlLine, idempotencyKey, prettyJson } from '../spec_text.mjs';
import { Alert, Switcher, useAccess, useAnswer } from '../ui.jsx';
import { costLines, isHopeless, usableBackend } from '../validation.mjs';

const CHECK_AFTER_MS = 200;

/* The form is built from the server's OpenAPI document, so it appears after that is loaded. */
export default function NewRun({ app, query: { from, without } }) {
  useEffect(() => app.title('New run'), []);
  const { answer: start, error } = useAnswer(() => begin(app, from, without), []);
  return (
    <>
      <h1>New run</h1>
      <p class="muted" role="status">
        {error ? `The form could not be loaded: ${error.message}` : start ? start.note : 'Loading…'}
      </p>
      {start && <Form app={app} {...start} />}
    </>
  );
}

/* The initial form: the settings of run `from`, on its nodes except `without`. */
async function begin(app, from, without) {
  const [schema, backend, earlier] = await Promise.all([
    app.api.schema(),
    from ? '' : usableBackend(app.api).catch(() => ''),
    from ? app.api.run(from).catch((error) => ({ error })) : null,
  ]);
  const groups = buildGroups(schema);
  const fields = groups.flatMap((group) => group.fields);
  const form = { ...emptyForm(fields), backend };
  if (!earlier) {
    return { groups, form, note: '' };
  }
  if (earlier.error) {
    return { groups, form, note: `Run ${from} could not be loaded: ${earlier.error.message}` };
  }
  const { spec, name, labels, nodes } = earlier;
  const names = without && nodes.map((node) => node.name).filter((one) => one !== without);
  return {
    groups,
    form: fromSpec(fields, { ...spec, name, labels, ...(names ? { nodes: { names }, launch: null } : {}) }),
    note: `Settings of run ${from}${without && `, without ${without}`}. Change what should differ.`,
  };
}

/* Returns choices by field ID. Failures are ignored: the page's banner reports an unreachable
 * server. */
function useOffers(app) {
  const [offers, setOffers] = useState(/** @type {any} */ ({}));
  useEffect(() => {
    const add = (found) => setOffers((old) => ({ ...old, ...found }));
    const ignore = () => {};
    app.api
      .nodes()
      .then(({ nodes }) => add({ nodes_names: nodes.filter(({ state }) => state !== 'left') }), ignore);
    app.api.programs().then(({ programs }) => add({ program: programs }), ignore);
    app.api
      .json('/api/v1/launchers')
      .then(
        ({ launchers }) => launchers.length && add({ launch: launchers, nodes_mode: ['launch'] }),
        ignore,
      );
  }, []);
  return offers;
}

/* [{lines, byField, isHopeless}, showErrors]: the server's validation of the request. A later
 * request cancels an earlier one. Errors of a submitted request stay until it changes. */
function useCheck(app, spec, errorsOf) {
  const [found, setFound] = useState({ lines: [], byField: {}, isHopeless: false });
  const latest = useRef(new AbortController());
  useEffect(() => {
    const checking = new AbortController();
    latest.current = checking;
    const timer = setTimeout(async () => {
      try {
        const answer = await app.api.validate(spec, checking.signal);
        setFound({ lines: costLines(answer, spec), byField: {}, isHopeless: isHopeless(answer, spec) });
      } catch (error) {
        if (!checking.signal.aborted && (error.status === 400 || error.status === 422)) {
          const byField = errorsOf(error.problem);
          const loose = (byField[''] ?? []).map((text) => ['bad', text]);
          const lines = [['bad', 'The server would reject this request.'], ...loose];
          setFound({ lines, byField, isHopeless: false });
        }
      }
    }, CHECK_AFTER_MS);
    return () => {
      clearTimeout(timer);
      checking.abort();
    };
  }, [JSON.stringify(spec)]);
  const showErrors = (byField) => {
    latest.current.abort();
    setFound((old) => ({ ...old, byField }));
  };
  return [found, showErrors];
}

/* A single offer is selected by default. */
const onlyOne = (offered) => (offered?.length === 1 ? { name: offered[0].name, args: {} } : null);

function Form({ app, groups, form: first }) {
  const fields = groups.flatMap((group) => group.fields);
  const offers = useOffers(app);
  const { operator, reason } = useAccess(app);
  const [given, setForm] = useState(first);
  /* JSON typed by the user, {text, spec, error}. It is sent unchanged. */
  const [typed, setTyped] = useState(/** @type {any} */ (null));
  const [failure, setFailure] = useState(null);
  const [isSending, setSending] = useState(false);
  const sent = useRef({ body: '', key: '' });
  const element = useRef(/** @type {any} */ (null));
  const form = {
    ...given,
    program: given.program || onlyOne(offers.program),
    launch: given.launch || onlyOne(offers.launch),
  };
  const spec = typed?.spec ?? toSpec(fields, form);
  const errorsOf = (problem) => errorsByField(fields, problem, form);
  const [{ lines, byField, isHopeless: isVain }, showErrors] = useCheck(app, spec, errorsOf);

  const set = (part) => {
    setTyped(null);
    setForm({ ...given, ...part });
  };
  const readJson = (text) => {
    try {
      const read = JSON.parse(text || '{}');
      if (read === null || typeof read !== 'object' || Array.isArray(read)) {
        throw new Error('The request must be a JSON object.');
      }
      setTyped({ text, spec: read });
      setForm(fromSpec(fields, read));
    } catch (error) {
      setTyped({ text, spec, error: error.message });
    }
  };
  /* Equal bodies are sent with the same idempotency key, so a retry does not start a second run. */
  const submit = async (event) => {
    event.preventDefault();
    if (!operator || isVain || isSending) {
      return;
    }
    const body = JSON.stringify(spec);
    sent.current = sent.current.body === body ? sent.current : { body, key: idempotencyKey() };
    setSending(true);
    setFailure(null);
    try {
      app.go({ view: 'run', id: (await app.api.create(spec, sent.current.key)).id });
    } catch (error) {
      const own = error instanceof ApiError ? errorsOf(error.problem) : {};
      showErrors(own);
      setFailure({ error, loose: own[''] ?? [] });
      setTimeout(() => focusFirstFault(element.current));
    } finally {
      setSending(false);
    }
  };
  return (
    <form class="new-run" noValidate ref={element} onSubmit={submit}>
      <div class="stack">
        <Switcher
          label="What to run"
          options={[
            ['measure', 'Measure collectives'],
            ['program', 'Run a program'],
          ]}
          value={form.what}
          onChange={(what) => set({ what })}
        />
        {groups.map(({ title, closed, fields: own }) => {
          const shown = own.filter((field) => isShown(field, form));
          const grid = (
            <div class="field-grid">
              {shown.map((field) => (
                <Field
                  key={field.id}
                  field={field}
                  value={form[field.id]}
                  errors={byField[field.id]}
                  offered={offers[field.id]}
                  onChange={(value) => set({ [field.id]: value })}
                />
              ))}
            </div>
          );
          return (
            shown.length > 0 &&
            (closed ? (
              <Fold key={title} title={title}>
                {grid}
              </Fold>
            ) : (
              <section key={title} class="card">
                <h2>{title}</h2>
                {grid}
              </section>
            ))
          );
        })}
      </div>
      <aside class="card preview" aria-label="The request">
        <div class="start">
          {!operator && <Alert tone="warn" title={reason} />}
          {failure && <Failure {...failure} />}
          <button type="submit" class="primary big" disabled={!operator || isSending || isVain}>
            Start the run
          </button>
        </div>
        <div class="cost" role="status">
          {lines.map(([tone, text]) => (
            <p key={text} class={tone === 'bad' ? 'bad' : undefined}>
              {text}
            </p>
          ))}
        </div>
        <p class="help">Blank fields take the server’s defaults.</p>
        <h2>
          The request <CopyButton label="the request" text={() => typed?.text ?? prettyJson(spec)} />
        </h2>
        <textarea
          rows={9}
          spellcheck={false}
          aria-label="The request as JSON"
          value={typed?.text ?? prettyJson(spec)}
          onInput={({ currentTarget }) => readJson(currentTarget.value)}
        />
        {typed?.error && (
          <p class="field-error" role="status">
            {typed.error}
          </p>
        )}
        <h2>The same as a shell command</h2>
        <CopyBlock
          label="the curl command"
          text={curlLine(spec, location.origin, app.api.token() !== null)}
        />
      </aside>
    </form>
  );
}

/* Errors with a visible field are shown there, all others here. */
function Failure({ error, loose }) {
  const isRefused = error instanceof ApiError;
  return (
    <Alert tone="bad" title={isRefused ? 'The server rejected the request. ' : 'The server did not answer. '}>
      {isRefused ? error.message : 'Try again. A repeated request does not start a second run.'}
      {loose.length > 0 && (
        <ul>
          {loose.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </Alert>
  );
}

function focusFirstFault(form) {
  const field = form?.querySelector('.field.invalid');
  const fold = field?.closest('details');
  if (fold) {
    fold.open = true;
  }
  (field?.querySelector('textarea[id], select[id]') ?? field?.querySelector('input, button'))?.focus();
}
