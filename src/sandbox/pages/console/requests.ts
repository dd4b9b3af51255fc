import { type Content, html } from '../../../markup.ts';
import { mostKept } from '../../http/request-log.ts';
import type { Service } from '../../service.ts';
import type { Page } from '../page.ts';
import { listPage, type Part } from './paging.ts';
import { sections } from './sections.ts';
import { userNames } from './users.ts';

export const requestsPath = sections.requests.path;

type Row = ReturnType<NonNullable<Service['requests']>['newest']>[number];

export const readRequests = ({ requests }: Service, { before, limit }: Part): Row[] =>
  requests?.newest(limit, before) ?? [];

/** The requests since the server started, newest first. */
export function requestsTable({ store }: Service, rows: readonly Row[]): Content {
  if (rows.length === 0) return html`<p class="soft">No requests since this server started.</p>`;
  const nameOf = userNames(
    store,
    rows.map(({ request }) => request.userId),
  );
  return html`<table class="stack"><thead><tr><th class="fit">Time (UTC)</th><th>Request</th><th class="fit">Response</th>
<th class="fit number">Took</th><th class="fit">Account</th></tr></thead><tbody>${rows.map(
    ({ number, request: { at, method, target, status, tookMs, userId, fault } }) =>
      html`<tr id="request-${number}"><td class="fit number"><time>${new Date(at).toISOString().slice(11, 19)}</time></td>
<td class="mono">${method} ${target}</td><td class="fit">${status === null ? html`<span class="bad">broken off</span>` : html`<span class="${moodOf(status)}">${status}</span>`}${
        fault !== null && html` <small>fault: ${fault}</small>`
      }</td><td class="fit number">${tookMs.toFixed(tookMs < 10 ? 1 : 0)} ms</td><td class="fit">${nameOf(userId)}</td></tr>`,
  )}</tbody></table>`;
}

const moodOf = (status: number): string => (status >= 500 ? 'bad' : status >= 400 ? 'wait' : 'good');

export const requestsPage: Page<'consoleRequests'> = ({ service, search }) =>
  listPage({
    section: 'requests',
    lead: `The newest ${mostKept.toLocaleString('en-US')} since this server started, without secrets. They are gone when it ends.`,
    search,
    read: (part) => readRequests(service, part),
    numberOf: ({ number }) => number,
    table: (rows) => requestsTable(service, rows),
  });
