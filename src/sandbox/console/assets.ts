import { readFileSync } from 'node:fs';

/** What every page looks like, on one line. */
export const style = readFileSync(new URL('./assets/style.css', import.meta.url), 'utf8').replace(
  /\s+/g,
  ' ',
);

/** What runs in a page that changes, or that has something to copy. */
export const script = readFileSync(new URL('./assets/live.js', import.meta.url), 'utf8');
