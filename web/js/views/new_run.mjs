/* new_run.mjs - the form that starts a run, and the same request for a shell */
import {ApiError} from '../api.mjs';
import {buildField} from '../fields.mjs';
import {h, setHidden, setText} from '../dom.mjs';
import {alertBox, copyBlock} from '../parts.mjs';
import {costInWords} from '../spec_cost.mjs';
import {FIELDS, GROUPS} from '../spec_fields.mjs';
import {
    curlLine,
    emptyForm,
    errorsByField,
    fromSpec,
    idempotencyKey,
    isShown,
    prettyJson,
    toSpec
} from '../spec_form.mjs';

export function newRunView(root, app, {query}) {
    app.title('New run');
    const fields = new Map();
    let extra = {};
    let sent = {body: '', key: ''};
    const parts = buildPage(fields, preview);
    root.append(h('h1', {}, 'New run'), parts.note, parts.form);

    function read() {
        const form = {...emptyForm(), extra};
        fields.forEach((field, id) => { form[id] = field.read(); });
        return form;
    }

    function write(form) {
        extra = form.extra;
        fields.forEach((field, id) => field.write(form[id]));
        preview();
    }

    /* Show what fits the choices, and the request as it now stands. */
    function preview() {
        const form = read();
        for (const field of FIELDS) {
            setHidden(fields.get(field.id).element, !isShown(field, form));
        }
        const spec = toSpec(form);
        parts.curl.set(curlLine(spec, location.origin, app.api.token() !== null));
        parts.json.set(prettyJson(spec));
        setText(parts.cost, costInWords(spec));
    }

    /* The same body goes out under the same key, so a second try starts nothing twice. */
    async function submit(event) {
        event.preventDefault();
        const form = read();
        const spec = toSpec(form);
        const body = JSON.stringify(spec);
        sent = sent.body === body ? sent : {body, key: idempotencyKey()};
        parts.go.disabled = true;
        showErrors(parts, fields, {});
        try {
            const run = await app.api.create(spec, sent.key);
            app.go({view: 'run', id: run.id});
        } catch (error) {
            showFailure(parts, fields, form, error);
        } finally {
            parts.go.disabled = false;
        }
    }

    parts.form.addEventListener('submit', submit);
    preview();
    offerNodes(app, fields.get('nodes_names'));
    if (query.from) {
        load(app, query.from, parts, write);
    }
    return {update() {}, destroy() {}};
}

function buildPage(fields, onInput) {
    const groups = GROUPS.map(group => {
        const built = group.fields.map(field => {
            const control = buildField(field, onInput);
            fields.set(field.id, control);
            return control.element;
        });
        const grid = h('div', {class: 'field-grid'}, built);
        return group.closed
            ? h('details', {class: 'card fold'},
                  h('summary', {}, h('h2', {}, group.title)), grid)
            : h('section', {class: 'card'}, h('h2', {}, group.title), grid);
    });
    const curl = copyBlock('', 'the curl line');
    const json = copyBlock('', 'the request');
    const go = h('button', {type: 'submit', class: 'primary big'}, 'Start the run');
    const errors = h('div', {class: 'alerts'});
    const cost = h('p', {class: 'cost', role: 'status'});
    const form = h('form', {class: 'new-run', novalidate: true},
        h('div', {class: 'stack'}, groups),
        h('aside', {class: 'card preview'}, errors, go, cost,
            h('p', {class: 'help'},
                'Blank fields take the server’s defaults, which the run ' +
                    'then shows.'),
            h('h2', {}, 'The same from a shell'), curl.block, h('h2', {}, 'The request'),
            json.block));
    const note = h('p', {class: 'muted', role: 'status'});
    return {form, go, errors, cost, curl, json, note};
}

function showErrors(parts, fields, byField) {
    fields.forEach((field, id) => field.error(byField[id] ?? []));
    parts.errors.replaceChildren();
}

/* The server's faults, each at its field; the first of them gets the focus. */
function showFailure(parts, fields, form, error) {
    const refused = error instanceof ApiError;
    const byField = refused ? errorsByField(error.problem, form) : {};
    showErrors(parts, fields, byField);
    const loose = byField[''] ?? [];
    parts.errors.replaceChildren(alertBox('bad',
        refused ? 'The server refused it. ' : 'The server did not answer. ',
        refused ? error.message
                : 'Try again: the run is started once, however often you ask.',
        loose.length ? h('ul', {}, loose.map(text => h('li', {}, text))) : null));
    const first = FIELDS.find(field => byField[field.id]);
    if (first) {
        const field = fields.get(first.id);
        const fold = field.element.closest('details');
        if (fold) {
            fold.open = true;
        }
        field.focus();
    }
}

async function offerNodes(app, field) {
    try {
        const {nodes} = await app.api.nodes();
        field.offer(nodes.filter(node => node.state !== 'left').map(node => node.name));
    } catch {
        /* the header says that the server is gone */
    }
}

async function load(app, id, parts, write) {
    setText(parts.note, 'Loading the earlier run…');
    try {
        const run = await app.api.run(id);
        write(fromSpec({...run.spec, name: run.name, labels: run.labels}));
        setText(parts.note, `As run ${id} had it; change what should differ.`);
    } catch (error) {
        setText(parts.note, `Run ${id} could not be loaded: ${error.message}`);
    }
}
