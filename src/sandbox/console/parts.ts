import type { TrackingStatus } from '../../api/enums.ts';
import {
  hasArrived,
  isLost,
  lineState,
  quantityText,
  type Shortfall,
  type ShownState,
  shortfallOf,
  spoken,
} from '../../api/order-state.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { type Content, type Html, html } from '../../platform/html.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import type { OrderItem } from '../orders/lifecycle/types.ts';
import type { LoggedBody, LoggedSide } from '../server/request-log.ts';
import { shownReceiver, withoutSecrets } from '../server/secrets.ts';
import { addressOf } from '../webhooks/read.ts';

/** A webhook URL as pages show and find it. */
export const shownAddress = (url: string): string => withoutSecrets(shownReceiver(addressOf(url)));

/** Formats an amount in cents: `1999, USD` as `$19.99`. */
export const money = (cents: number, currency = 'USD'): string =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(cents / 100);

const units = [
  { ms: 86_400_000, name: 'd' },
  { ms: 3_600_000, name: 'h' },
  { ms: 60_000, name: 'min' },
  { ms: 1000, name: 's' },
] as const;

/** Formats a duration in its largest whole unit, such as `3 min`. */
export function duration(ms: number): string {
  const unit = units.find((candidate) => ms >= candidate.ms);
  return unit ? `${Math.floor(ms / unit.ms)} ${unit.name}` : '0 s';
}

/** Formats a past or future time `at` relative to `now` (both in ms). Shows the exact time as a tooltip. */
export function age(at: number, now: number) {
  const iso = new Date(at).toISOString();
  const text = at > now ? `in ${duration(at - now + 999)}` : `${duration(now - at)} ago`;
  return html`<time datetime="${iso}" title="${iso}">${text}</time>`;
}

/** Formats ms since the epoch as `2026-03-01 12:00:00`. */
export const dateTime = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** Renders a state as a coloured badge. */
export const stateBadge = ({ text, mood }: ShownState): Html =>
  html`<span class="badge ${mood === 'waiting' ? 'wait' : mood}">${text}</span>`;

const parcelBadge = (status: TrackingStatus): Html =>
  stateBadge({
    text: spoken(status),
    mood: isLost(status) ? 'bad' : hasArrived(status) ? 'good' : 'waiting',
  });

/** How many units of a line item were bought, such as `2` or `2 of 5`. */
export const quantityOf = (item: OrderItem, shortfalls: readonly Shortfall[]): string =>
  quantityText(shortfallOf(item, shortfalls) ?? { bought: item.quantity });

/** The state of a line item, in words. */
export const lineText = (item: OrderItem, shortfalls: readonly Shortfall[]): string =>
  lineState(item.status, shortfallOf(item, shortfalls) !== undefined)?.text ?? spoken(item.status);

/** Renders an external URL: as a link if it is http(s), otherwise as plain text. */
export function outsideLink(url: string, text = url): Html {
  const leadsToTheWeb = /^https?:$/.test(parseUrl(url)?.protocol ?? '');
  return leadsToTheWeb ? html`<a href="${url}" rel="noreferrer noopener">${text}</a>` : html`${text}`;
}

type Shipment = Shape<'PublicTrackingResponse'>['shipments'][number];
type Checkpoint = Shipment['checkpoints'][number];

/** Renders each parcel with its checkpoints, newest first. */
export const parcels = (shipments: readonly Shipment[]): Content =>
  shipments.length === 0
    ? html`<p class="soft">No parcel.</p>`
    : shipments.map(
        ({
          carrier,
          tracking_number,
          status,
          estimated_delivery_date,
          checkpoints,
        }) => html`<div class="parcel">
<p><strong>${carrier}</strong> <span class="mono">${tracking_number}</span> ${parcelBadge(status)}${
          estimated_delivery_date !== null &&
          (status === 'pending' || status === 'in_transit') &&
          html` <span class="soft">expected ${estimated_delivery_date}</span>`
        }</p>${checkpoints.length > 0 && journey(checkpoints)}</div>`,
      );

const journey = (checkpoints: readonly Checkpoint[]): Content => html`<table class="stack"><thead><tr>
<th class="fit">Time (UTC)</th><th class="half">What</th><th>Where</th></tr></thead><tbody>${checkpoints.map(
  (checkpoint) =>
    html`<tr><td class="fit number"><time datetime="${checkpoint.checkpoint_time}">${dateTime(
      Date.parse(checkpoint.checkpoint_time),
    )}</time></td><td class="half">${checkpoint.message}</td><td>${placeOf(checkpoint)}</td></tr>`,
)}</tbody></table>`;

const placeOf = ({ location, city, state, country }: Checkpoint): string =>
  location ?? [city, state, country].filter((part) => part !== null && part !== '').join(', ');

/**
 * A text with a copy button. Without JavaScript, a click selects the whole text. @param what names the text on the
 * button, after “Copy”.
 */
export const copied = (what: string, text: string, shown: Content = text): Content =>
  html`<div class="copied"><pre tabindex="0">${shown}</pre><button type="button" class="copy">Copy<span class="unseen"> ${what}</span></button></div>`;

/** An id with a copy button. @param what names the id, as in “Copy the id of the order”. */
export const copiedId = (what: string, id: string): Content =>
  html`<span class="id"><code>${id}</code> <button type="button" class="copy">Copy<span class="unseen"> the id of the ${what}</span></button></span>`;

/** Commands, ready to copy, that do the same as a request or a button. */
export interface SameAs {
  readonly curl: string;
  readonly errand?: string;
  readonly json?: string;
}

/** @param what names the action on button labels, for example `the request`. */
export const sameAs = (what: string, { curl, errand, json }: SameAs): Content => {
  const forms = [
    ['errand', errand],
    ['curl', curl],
    ['JSON', json],
  ] as const;
  const given = forms.filter(([, text]) => text !== undefined);
  return html`<details class="same"><summary>Copy ${what} as ${given.map(([name]) => name).join(' or ')}</summary>${given.map(
    ([name, text]) =>
      html`<h3>${name}</h3>
${copied(`${what} as ${name}`, text ?? '')}`,
  )}</details>`;
};

/** Sets the names in pretty-printed JSON apart from its values. */
export const colouredJson = (pretty: string): Content =>
  pretty.split('\n').map((line, index) => {
    const [, indent = '', name = ''] = /^( {0,40})("(?:[^"\\]|\\.)*")(?=: )/.exec(line) ?? [];
    const rest = line.slice(indent.length + name.length);
    return html`${index > 0 && '\n'}${name === '' ? line : html`${indent}<b>${name}</b>${rest}`}`;
  });

/** Pretty-prints JSON, including truncated JSON. Pure. */
export function prettyJson(json: string): string {
  const chunks: string[] = [];
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(Math.min(depth, 20))}`;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\[\s\S])*"?|[{}[\],:]|[^\s"{}[\],:]+/g)) {
    if (token === '{' || token === '[') {
      depth += 1;
      chunks.push(token, line());
    } else if (token === '}' || token === ']') {
      depth = Math.max(0, depth - 1);
      // Keep an empty object or array on one line.
      if (/^\s+$/.test(chunks.at(-1) ?? '') && /^[{[]$/.test(chunks.at(-2) ?? '')) chunks.pop();
      else chunks.push(line());
      chunks.push(token);
    } else if (token === ',') chunks.push(token, line());
    else chunks.push(token === ':' ? ': ' : token);
  }
  return chunks.join('');
}

/** Maximum size of a displayed text, in bytes of markup. An escaped character can take six bytes. */
const maxShownBytes = 12_000;

/** Renders headers with secrets redacted. */
export const headersTable = (headers: LoggedSide['headers']): Content =>
  headers.length > 0 &&
  html`<details class="headers"><summary>${headers.length === 1 ? '1 header' : `${headers.length} headers`}</summary><dl class="mono">${headers.map(
    ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`,
  )}</dl></details>`;

/** Renders pretty-printed JSON with a copy button. @param what names the JSON on the button. */
export function jsonBlock(what: string, json: string): { readonly block: Content; readonly isCut: boolean } {
  const pretty = prettyJson(json);
  const shown = truncated(pretty);
  return {
    block: copied(`${what} as JSON`, shown, colouredJson(shown)),
    isCut: shown.length < pretty.length,
  };
}

/**
 * Renders the stored part of a body, with a note if any is missing. @param what names the body, for example `the
 * request’s body`.
 */
export function bodyBlock(what: string, { text, bytes, isCut }: LoggedBody): Content {
  if (bytes === 0) return html`<p class="soft">No body.</p>`;
  const size = bytes === null ? '' : `${bytes.toLocaleString('en-US')} bytes`;
  if (text === null)
    return html`<p class="soft">${bytes === null ? 'A body' : `A body of ${size}`}, not kept.</p>`;
  const { block, isCut: isShownInPart } = jsonBlock(what, text);
  return html`${block}${(isCut || isShownInPart) && html`<p class="soft">Cut: its beginning, of ${size}.</p>`}`;
}

/** Size of a text after it is escaped for markup, in bytes. */
export const markupBytes = (text: string): number =>
  Buffer.byteLength(text) + 5 * (text.match(/[&<>"']/g)?.length ?? 0);

/** Cuts a text so that its markup has at most `room` bytes. */
export function truncated(text: string, room = maxShownBytes): string {
  let left = room;
  for (let at = 0; at < text.length; at += 1) {
    left -= /[&<>"']/.test(text[at] ?? '') ? 6 : Buffer.byteLength(text[at] ?? '');
    if (left < 0) return text.slice(0, at);
  }
  return text;
}
