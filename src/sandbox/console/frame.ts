import { failedOrderStatuses } from '../../api/enums.ts';
import { type Content, html } from '../../platform/html.ts';
import { shopPath } from '../config.ts';
import { readQuery } from '../server/request.ts';
import { withoutSecrets } from '../server/secrets.ts';
import type { Service } from '../server/service.ts';
import { actionNote } from './action-notes.ts';
import { dateTime, duration } from './parts.ts';
import { type FrameOptions, faultsPath, groups, sections, timePath } from './sections.ts';

/** Row numbers of the newest records, by kind. */
interface Marks {
  orders: number;
  deliveries: number;
  requests: number;
}

/**
 * Marks of each sandbox. `opened` has the newest records when the console was first used. `seen` has the newest records
 * when the user last viewed each list.
 */
const books = new WeakMap<Service, { readonly opened: Marks; readonly seen: Marks }>();

const marksNow = ({ store, requests }: Service): Marks => {
  const newest = (table: string): number =>
    Number(store.get(`SELECT coalesce(max(seq), 0) AS seq FROM ${table}`)?.seq);
  return { orders: newest('orders'), deliveries: newest('deliveries'), requests: requests?.total ?? 0 };
};

/**
 * Returns the marks of a sandbox. For a sandbox in a file, records older than the first use of the console are not new.
 * For a sandbox in memory, all records are new, because the sandbox started empty.
 */
function booksOf(service: Service): { readonly opened: Marks; readonly seen: Marks } {
  const none = { orders: 0, deliveries: 0, requests: 0 };
  const opened = service.store.file === ':memory:' ? none : { ...marksNow(service), requests: 0 };
  const known = books.get(service) ?? { opened, seen: { ...opened } };
  books.set(service, known);
  return known;
}

/** Maximum number of requests to count. Every page counts requests, so the limit keeps pages fast. */
const maxCounted = 1000;

/** Counts the failures among the records newer than the marks. */
function failuresSince({ store, requests }: Service, marks: Marks): Marks {
  const count = (sql: string, ...values: (string | number)[]): number =>
    store.cached(`failures ${sql} ${values.join(' ')}`, () => Number(store.get(sql, ...values)?.count));
  const isFailed = (status: number | null): boolean => status === null || status >= 400;
  const since = Math.min(maxCounted, Math.max(0, (requests?.total ?? 0) - marks.requests));
  return {
    orders: count(
      `SELECT count(*) AS count FROM orders WHERE status IN (${failedOrderStatuses.map(() => '?').join(', ')}) AND +seq > ?`,
      ...failedOrderStatuses,
      marks.orders,
    ),
    deliveries: count(
      'SELECT count(*) AS count FROM deliveries WHERE attempts > 0 AND delivered_at IS NULL AND +seq > ?',
      marks.deliveries,
    ),
    requests:
      requests?.latest(since).filter(({ request, isOfConsole }) => !isOfConsole && isFailed(request.status))
        .length ?? 0,
  };
}

const isMarked = (name: string): name is keyof Marks => ['orders', 'deliveries', 'requests'].includes(name);

/** Renders the header of a console page: navigation, new failures, search, and the state of the sandbox. */
export async function frameOf(service: Service, options: FrameOptions, search: string): Promise<Content> {
  const { section, isList = false, query: listQuery = '', isDashboard = false, isShop = false } = options;
  const { opened, seen } = booksOf(service);
  if (isList && section !== undefined && isMarked(section)) seen[section] = marksNow(service)[section];
  const fresh = failuresSince(service, seen);
  const countOf = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + (isMarked(name) ? fresh[name] : 0), 0);
  const badge = (count: number): Content =>
    count > 0 && html` <span class="fresh">${count}<span class="unseen"> new failures</span></span>`;
  const group = groups.find(({ names }) => section !== undefined && names.some((name) => name === section));
  const did = actionNote(service, search);
  const [query = ''] = readQuery(search).q ?? [];
  return html`<a class="skip" href="#main">Skip to content</a><header id="frame"><div class="bar"><a class="brand" href="/"${
    isDashboard && html` aria-current="page"`
  }>${mark}errand <span>sandbox</span></a>
<nav aria-label="Console">${groups.map(({ text, names }) => {
    const [first = 'orders'] = names;
    return html`<a href="${sections[first].path}"${text === group?.text && html` aria-current="true"`}>${text}${badge(countOf(names))}</a>`;
  })}<a href="${shopPath}"${isShop && html` aria-current="${isList ? 'page' : 'true'}"`}>Shop</a></nav>
<form id="finder" role="search" method="get" action="/console/search"><input type="search" name="q" aria-label="Find anything" placeholder="Find anything   /" value="${section === undefined ? withoutSecrets(query.slice(0, 300)) : ''}" autocomplete="off" spellcheck="false"><button>Find</button></form></div>${
    group &&
    html`<nav class="sub" aria-label="${group.text}">${group.names.map(
      (name) =>
        html`<a href="${sections[name].path}${name === section && listQuery}"${name === section && html` aria-current="${isList ? 'page' : 'true'}"`}>${sections[name].text}${badge(countOf([name]))}</a>`,
    )}</nav>`
  }${await strip(service, failuresSince(service, opened))}${did !== undefined && html`<p id="did" role="status">${did}</p>`}<p id="live" role="status"></p></header>`;
}

const mark: Content = html`<svg class="mark" viewBox="0 0 16 16" aria-hidden="true"><path d="M2 5l6-3 6 3v6l-6 3-6-3z" fill="currentColor"/><path d="M2 5l6 3 6-3M8 8v6" stroke="var(--page)" fill="none"/></svg>`;

async function strip({ clock, config, control }: Service, failures: Marks): Promise<Content> {
  const now = clock.now();
  const ahead = Math.round((now - clock.real()) / 1000) * 1000;
  const { faults, hits = {} } = (await control()).faults();
  const words = [
    [failures.orders, 'order', 'orders', `${sections.orders.path}?failed=1`],
    [failures.deliveries, 'delivery', 'deliveries', `${sections.deliveries.path}?failed=1`],
    [failures.requests, 'request', 'requests', `${sections.requests.path}?failed=1`],
  ] as const;
  const failed = words.filter(([count]) => count > 0);
  return html`<div class="strip"><span class="alive">still</span><span><span class="roomy">Sandbox clock </span><a href="${timePath}"><time>${dateTime(now)}</time></a>${
    ahead !== 0 && html` <small>${ahead > 0 ? '+' : '−'}${duration(Math.abs(ahead))}</small>`
  }</span><span><span class="roomy">Speed </span>${config.speed}×</span>${faults
    .slice(0, maxFaults)
    .map(
      (fault) =>
        html`<form method="post" action="${faultsPath}/off"><input type="hidden" name="fault" value="${fault}"><a class="bad" href="${faultsPath}"><code>${fault}</code></a>${
          hits[fault] !== undefined && html` <small>${hits[fault].hits} of ${hits[fault].requests}</small>`
        } <button>off<span class="unseen">: ${fault}</span></button></form>`,
    )}${faults.length > maxFaults && html`<a class="bad" href="${faultsPath}">${faults.length - maxFaults} more faults</a>`}${
    failed.length > 0 &&
    html`<span class="failures">Failed<span class="roomy"> since it was opened</span>: ${failed.map(
      ([count, one, several, path], index) =>
        html`${index > 0 && ', '}<a class="bad" href="${path}">${count} ${count === 1 ? one : several}</a>`,
    )}</span>`
  }</div>`;
}

const maxFaults = 3;
