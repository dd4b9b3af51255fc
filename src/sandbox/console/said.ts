import { type Content, html } from '../../platform/html.ts';
import type { KeptBody, KeptSide } from '../server/request-log.ts';
import { copied } from './pages/copied.ts';
import { prettyJson } from './pages/pretty-json.ts';

/** Most of a text that a page shows, bytes of markup: a sign may take six. */
const mostShown = 12_000;

/** Headers as they were, but for the secrets in them. */
export const headersTable = (headers: KeptSide['headers']): Content =>
  headers.length > 0 &&
  html`<details class="headers"><summary>${headers.length === 1 ? '1 header' : `${headers.length} headers`}</summary><dl class="mono">${headers.map(
    ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`,
  )}</dl></details>`;

/** JSON on lines of its own, to be copied. @param what it is. */
export function jsonBlock(what: string, json: string): { readonly block: Content; readonly isCut: boolean } {
  const pretty = prettyJson(json);
  const shown = beginningOf(pretty);
  return { block: copied(`${what} as JSON`, shown), isCut: shown.length < pretty.length };
}

/** A body as far as it is kept, and a word on what is missing. @param what it is, `the request’s body`. */
export function bodyBlock(what: string, { text, bytes, isCut }: KeptBody): Content {
  if (bytes === 0) return html`<p class="soft">No body.</p>`;
  const size = bytes === null ? '' : `${bytes.toLocaleString('en-US')} bytes`;
  if (text === null)
    return html`<p class="soft">${bytes === null ? 'A body' : `A body of ${size}`}, not kept.</p>`;
  const { block, isCut: isShownInPart } = jsonBlock(what, text);
  return html`${block}${(isCut || isShownInPart) && html`<p class="soft">Cut: its beginning, of ${size}.</p>`}`;
}

function beginningOf(text: string): string {
  let room = mostShown;
  for (let at = 0; at < text.length; at += 1) {
    room -= /[&<>"']/.test(text[at] ?? '') ? 6 : Buffer.byteLength(text[at] ?? '');
    if (room < 0) return text.slice(0, at);
  }
  return text;
}
