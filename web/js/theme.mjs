/* theme.mjs - dark or light: the system's preference until the person says otherwise */
import {h, setText} from './dom.mjs';

const KEY = 'ringbench-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

export function theme() {
    return document.documentElement.dataset.theme ?? (dark.matches ? 'dark' : 'light');
}

/* Tell `listener` of every change; returns the function that ends it. */
export function onTheme(listener) {
    window.addEventListener('ringbench-theme', listener);
    return () => window.removeEventListener('ringbench-theme', listener);
}

dark.addEventListener('change', announce);

function announce() {
    window.dispatchEvent(new Event('ringbench-theme'));
}

function choose(name) {
    document.documentElement.dataset.theme = name;
    try {
        localStorage.setItem(KEY, name);
    } catch {
        /* storage is switched off: the choice lasts as long as the page */
    }
    announce();
}

export function themeSwitch() {
    const label = h('span', {class: 'theme-name'});
    const button = h('button', {
        type: 'button',
        class: 'quiet',
        on: {click: () => choose(theme() === 'dark' ? 'light' : 'dark')}
    },
        h('span', {'class': 'theme-glyph', 'aria-hidden': 'true'}), label);
    const show = () => {
        const other = theme() === 'dark' ? 'Light' : 'Dark';
        setText(label, other);
        button.setAttribute('aria-label', `${other} theme`);
    };
    onTheme(show);
    show();
    return button;
}
