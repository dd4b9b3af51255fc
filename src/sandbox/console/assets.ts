import { readFileSync } from 'node:fs';

/** The stylesheet of every page, minified to one line. */
export const style = readFileSync(new URL('./assets/style.css', import.meta.url), 'utf8').replace(
  /\s+/g,
  ' ',
);

/** The script for live pages and copy buttons. */
export const script = readFileSync(new URL('./assets/live.js', import.meta.url), 'utf8');
