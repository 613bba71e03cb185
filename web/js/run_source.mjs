/* run_source.mjs - one run as the page knows it: what was asked for, and its events as
 * they come. The stream is open only while the run lives and the page is looked at. */
import {applyEvents, isEnded, newRunState} from './events.mjs';

export class RunSource {
    /* `onChange` is called after every change, however small. */
    constructor(api, id, onChange) {
        this.api = api;
        this.id = id;
        this.onChange = onChange;
        this.meta = null;
        this.state = newRunState();
        this.log = [];
        this.error = null;
        this.done = false;
        this.stream = null;
        this.replayed = {state: newRunState(), count: 0};
        this.stopped = false;
        this.onVisible = () => this.heed();
        document.addEventListener('visibilitychange', this.onVisible);
        this.heed();
    }

    /* The state after the first `count` events; null: as it is now. Going on from where
     * the last question was is cheap. */
    stateAt(count) {
        if (count === null || count >= this.log.length) {
            return this.state;
        }
        if (count < this.replayed.count) {
            this.replayed = {state: newRunState(), count: 0};
        }
        applyEvents(this.replayed.state, this.log.slice(this.replayed.count, count));
        this.replayed.count = count;
        return this.replayed.state;
    }

    name() {
        return this.meta?.name || this.id;
    }

    /* Start or stop following, as the page is seen or not. */
    heed() {
        if (document.hidden || this.stopped) {
            this.stream?.abort();
            this.stream = null;
        } else if (!this.done && !this.stream) {
            this.start();
        }
    }

    async start() {
        const stream = new AbortController();
        this.stream = stream;
        await this.load(stream.signal);
        if (stream.signal.aborted || this.error) {
            return;
        }
        const outcome = await this.api.follow(this.id, {
            after: this.state.lastId,
            signal: stream.signal,
            onEvents: events => this.take(events)
        });
        if (this.stream === stream) {
            this.stream = null;
            this.finish(outcome);
        }
    }

    take(events) {
        for (const event of events) {
            if (event.id > (this.log[this.log.length - 1]?.id ?? 0)) {
                this.log.push(event);
            }
        }
        applyEvents(this.state, events);
        this.onChange();
    }

    finish(outcome) {
        this.done = outcome !== 'stopped';
        this.error = outcome instanceof Error ? outcome : null;
        if (outcome === 'ended' && !isEnded(this.state)) {
            this.error = new Error('The stream ended before the run did.');
        }
        this.onChange();
    }

    /* What the events do not say: name, labels, spec. Tried until the server answers. */
    async load(signal) {
        let wait = 300;
        while (this.meta === null && !signal.aborted) {
            try {
                this.meta = await this.api.run(this.id, signal);
                this.onChange();
            } catch (error) {
                if (signal.aborted) {
                    return;
                }
                if (error.status >= 400 && error.status < 500) {
                    this.error = error;
                    this.done = true;
                    this.onChange();
                    return;
                }
                await new Promise(resolve => { setTimeout(resolve, wait); });
                wait = Math.min(5000, wait * 2);
            }
        }
    }

    close() {
        this.stopped = true;
        document.removeEventListener('visibilitychange', this.onVisible);
        this.heed();
    }
}
