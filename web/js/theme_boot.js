/* theme_boot.js - a classic script, run before the first paint, so that a chosen theme
 * does not flash in the other one's colours */
try {
    const chosen = localStorage.getItem('ringbench-theme');
    if (chosen === 'dark' || chosen === 'light') {
        document.documentElement.dataset.theme = chosen;
    }
} catch {
    /* storage is switched off: the system's preference holds */
}
