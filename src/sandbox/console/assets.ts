import { readFileSync } from 'node:fs';

/** The stylesheet of every page, minified. */
export const style = readFileSync(new URL('./assets/style.css', import.meta.url), 'utf8')
  .replace(/\/\*.{0,5000}?\*\//gs, '')
  .replace(/\s+/g, ' ')
  .replace(/ ?([{};,]) ?/g, '$1')
  .replaceAll(': ', ':');

/** The script of console pages and copy buttons, without comments and indentation. */
export const script = readFileSync(new URL('./assets/live.js', import.meta.url), 'utf8').replace(
  /^\s*(?:\/\/.*)?\n?/gm,
  '',
);
