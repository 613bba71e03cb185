/* sse.test.mjs - Server-Sent Events, cut anywhere */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {SseParser} from '../../../web/js/sse.mjs';

const TEXT = ': keep-alive\n\nid: 7\nevent: result\ndata: {"a":\ndata:  1}\n\n' +
    'event: end\ndata: {}\n\n';
const EVENTS = [
    {id: '7', type: 'result', data: '{"a":\n 1}'},
    {id: undefined, type: 'end', data: '{}'}
];

test('events are parsed, comments are not',
    () => { assert.deepEqual(new SseParser().push(TEXT), EVENTS); });

test('cut at any byte, the events are the same', () => {
    for (const text
             of [TEXT, TEXT.replaceAll('\n', '\r\n'), TEXT.replaceAll('\n', '\r')]) {
        for (let cut = 0; cut <= text.length; cut += 1) {
            const parser = new SseParser();
            const found =
                [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
            /* A final CR may be half of a CRLF: what follows tells. */
            assert.deepEqual([...found, ...parser.push(':\n')], EVENTS, `cut at ${cut}`);
        }
    }
});

test('an event that was cut off by the end of the stream does not count', () => {
    const parser = new SseParser();
    assert.deepEqual(parser.push('id: 8\nevent: result\ndata: {}\n'), []);
});

test('a type without data counts, an id alone does not', () => {
    assert.deepEqual(new SseParser().push('event: end\n\nid: 3\n\n'),
        [{id: undefined, type: 'end', data: ''}]);
});
