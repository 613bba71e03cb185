/* sse.mjs - a parser of Server-Sent Events that is fed text as it comes. No DOM.
 * Source of the grammar: WHATWG HTML, "9.2 Server-sent events". */

export class SseParser {
    constructor() {
        this.rest = '';
        this.reset();
    }

    reset() {
        this.type = '';
        this.id = undefined;
        this.data = [];
    }

    /* The events that this piece of text completes: {id, type, data}. */
    push(text) {
        const events = [];
        this.rest += text;
        /* A CR at the very end may be the first half of a CRLF: it waits. */
        const lines = this.rest.split(/\r\n|\n|\r(?!$)/);
        this.rest = lines.pop();
        for (const line of lines) {
            const event = this.line(line);
            if (event) {
                events.push(event);
            }
        }
        return events;
    }

    line(line) {
        if (line === '') {
            return this.dispatch();
        }
        const colon = line.indexOf(':');
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'event') {
            this.type = value;
        } else if (field === 'data') {
            this.data.push(value);
        } else if (field === 'id') {
            this.id = value;
        }
        return null;
    }

    dispatch() {
        const event = {
            id: this.id,
            type: this.type || 'message',
            data: this.data.join('\n')
        };
        const worth = this.type !== '' || this.data.length > 0;
        this.reset();
        return worth ? event : null;
    }
}
