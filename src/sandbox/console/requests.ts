import { type Content, html } from '../../platform/html.ts';
import { type Exchange, mostKept } from '../server/request-log.ts';
import type { Service } from '../server/service.ts';
import { type Choice, type Filters, filterBar, readFilters } from './filters.ts';
import type { Page } from './pages/page.ts';
import { listPage, type Part } from './paging.ts';
import { sections } from './sections.ts';
import { userNames } from './users.ts';

export const requestsPath = sections.requests.path;

const requestFilters = ['q', 'class', 'method', 'user', 'failed'] as const;
type Name = (typeof requestFilters)[number];
type RequestFilters = Filters<Name>;

export const readRequests = ({ requests }: Service, { before, limit }: Part): Exchange[] =>
  requests?.newest(limit, before) ?? [];

/** The requests since the server started, newest first. */
export function requestsTable({ store }: Service, rows: readonly Exchange[]): Content {
  if (rows.length === 0) return html`<p class="soft">No requests since this server started.</p>`;
  const nameOf = userNames(
    store,
    rows.map(({ request }) => request.userId),
  );
  return html`<table class="stack"><thead><tr><th class="fit">Time (UTC)</th><th>Request</th><th class="fit">Response</th>
<th class="fit number">Took</th><th class="fit">Account</th></tr></thead><tbody>${rows.map(
    ({ number, request: { at, method, target, status, tookMs, userId, fault } }) =>
      html`<tr id="request-${number}"><td class="fit number"><time>${new Date(at).toISOString().slice(11, 19)}</time></td>
<td class="mono"><a href="${requestsPath}/${number}">${method} ${target}</a></td><td class="fit">${statusText(status)}${
        fault !== null && html` <small>fault: ${fault}</small>`
      }</td><td class="fit number">${took(tookMs)}</td><td class="fit">${nameOf(userId)}</td></tr>`,
  )}</tbody></table>`;
}

export const took = (ms: number): string => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;

/** How a request ended, in words and a colour. */
export const statusText = (status: number | null): Content =>
  status === null
    ? html`<span class="bad">broken off</span>`
    : html`<span class="${status >= 500 ? 'bad' : status >= 400 ? 'wait' : 'good'}">${status}</span>`;

const classOf = ({ request: { status } }: Exchange): string =>
  status === null ? 'broken off' : `${Math.floor(status / 100)}xx`;

const isFailed = ({ request: { status } }: Exchange): boolean => status === null || status >= 400;

/** Whether a request is what each filter looks for. */
const tests: {
  readonly [N in Name]: (exchange: Exchange, value: string, nameOf: (id: string | null) => string) => boolean;
} = {
  q: ({ request, orderId }, value) =>
    request.target.toLowerCase().includes(value.toLowerCase()) ||
    orderId?.startsWith(value.toLowerCase()) === true,
  class: (exchange, value) => classOf(exchange) === value,
  method: ({ request }, value) => request.method === value,
  user: ({ request: { userId } }, value, nameOf) =>
    userId !== null &&
    (userId.startsWith(value.toLowerCase()) || nameOf(userId).toLowerCase().includes(value.toLowerCase())),
  failed: isFailed,
};

export const requestsPage: Page<'consoleRequests'> = ({ service, search }) => {
  const filters = readFilters(search, requestFilters);
  const all = readRequests(service, { before: Number.MAX_SAFE_INTEGER, limit: mostKept });
  const nameOf = userNames(
    service.store,
    all.map(({ request }) => request.userId),
  );
  const matching = (...without: readonly Name[]): Exchange[] => {
    const set = requestFilters.filter((name) => filters[name] !== '' && !without.includes(name));
    return all.filter((exchange) => set.every((name) => tests[name](exchange, filters[name], nameOf)));
  };
  const found = matching();
  return listPage({
    section: 'requests',
    lead: `The newest ${mostKept.toLocaleString('en-US')} since this server started, without secrets. They are gone when it ends.`,
    search,
    filters,
    bar: requestsBar(
      filters,
      { all: all.length, found: found.length },
      matching,
      all.map(({ request }) => nameOf(request.userId)),
    ),
    read: ({ before, limit }) => found.filter(({ number }) => number < before).slice(0, limit),
    numberOf: ({ number }) => number,
    table: (rows) => requestsTable(service, rows),
  });
};

const requestsBar = (
  filters: RequestFilters,
  count: { readonly all: number; readonly found: number },
  matching: (...without: readonly Name[]) => Exchange[],
  users: readonly string[],
): Content =>
  filterBar({
    path: requestsPath,
    what: ['request', 'requests'],
    filters,
    count,
    fields: [
      { kind: 'text', name: 'q', label: 'Part of the path, or order' },
      { kind: 'text', name: 'user', label: 'User', offers: [...new Set(users)].filter(Boolean).slice(0, 30) },
      {
        kind: 'select',
        name: 'method',
        label: 'Method',
        choices: counts(matching('method'), ({ request }) => request.method),
      },
      {
        kind: 'flag',
        name: 'failed',
        label: 'failed only',
        count: matching('failed').filter(isFailed).length,
      },
      {
        kind: 'links',
        name: 'class',
        label: 'Status',
        choices: counts(matching('class'), classOf, ['2xx', '3xx', '4xx', '5xx', 'broken off']),
      },
    ],
  });

/** How many there are of each value. @param values that are shown even where there is none. */
function counts(
  rows: readonly Exchange[],
  kindOf: (row: Exchange) => string,
  values: readonly string[] = [],
): Choice[] {
  const found = new Map(values.map((value) => [value, 0]));
  for (const row of rows) found.set(kindOf(row), (found.get(kindOf(row)) ?? 0) + 1);
  return [...found].map(([value, count]) => ({ value, text: value, count }));
}
