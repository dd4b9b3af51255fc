import type { MilestoneType } from '../../api/enums.ts';
import { type Content, html } from '../../platform/html.ts';
import { walletTerms } from '../orders/create.ts';
import { milestones, nextDue } from '../orders/lifecycle/index.ts';
import type { StoredOrder } from '../orders/records.ts';
import type { Service } from '../server/service.ts';
import { entriesOf } from '../wallet/ledger.ts';
import { readAttemptsOf } from '../webhooks/read.ts';
import { walletPath } from './console-paths.ts';
import { deliveriesPath, said } from './deliveries-table.ts';
import { ledgerWords, signed } from './ledger-words.ts';
import { age, dateTime } from './pages/figures.ts';
import { requestsPath, statusText } from './requests.ts';

/** Something that happened to an order, or about it. */
interface FeedEntry {
  /** ms since the epoch, of the sandbox's time. */
  readonly at: number;
  readonly kind: 'request' | 'state' | 'money' | 'webhook';
  readonly isBad?: boolean;
  readonly title: Content;
  /** Who or what it came from. */
  readonly source: string;
  readonly detail?: Content;
}

/** What happens at one time happened in this order. */
const ranks: Readonly<Record<FeedEntry['kind'], number>> = { request: 0, state: 1, money: 2, webhook: 3 };

/** More entries than these are left out in the middle of a life: a poll every second would make a long page. */
const mostShown = 120;

/**
 * All that happened to an order in one line of time, oldest first: the requests about it, its states, what moved in the
 * wallet, and each attempt of a delivery; and when it goes on. @param now ms since the epoch.
 */
export function orderFeed(service: Service, order: StoredOrder, now: number): Content {
  const { record, plan } = order;
  const began = Date.parse(record.created_at);
  const due = nextDue(plan);
  const all = [
    ...requests(service, record.id),
    ...states(order),
    ...moneyEntries(service, order),
    ...attempts(service, record.id),
  ];
  const inOrder = all.toSorted((one, other) => one.at - other.at || ranks[one.kind] - ranks[other.kind]);
  const left = inOrder.length - mostShown;
  const shown = left > 0 ? inOrder.slice(-mostShown) : inOrder;
  return html`<div class="feed holds${due !== null && ' grows'}" tabindex="0" role="group" aria-label="Timeline">${left > 0 && html`<p class="soft">${left.toLocaleString('en-US')} earlier ones are left out.</p>`}<ol class="timeline">${shown.map(
    ({ at, kind, isBad = false, title, source, detail }) =>
      html`<li class="${isBad ? 'bad' : 'done'} ${kind}"><strong>${title}</strong> <small><time datetime="${new Date(at).toISOString()}">${dateTime(at)}</time>${
        at > began && ` · ${sinceStart(at - began)}`
      } · ${source}</small>${detail != null && html`<br><small>${detail}</small>`}</li>`,
  )}${due !== null && html`<li class="next soft">${due > now ? html`next step ${age(due, now)}` : 'next step now'}</li>`}</ol></div>`;
}

const badTurns: readonly string[] = [
  'order_failed',
  'cancelled',
  'undeliverable',
] satisfies readonly MilestoneType[];

const states = ({ record }: StoredOrder): FeedEntry[] =>
  milestones(record).milestones.map(({ type, label, occurred_at, source, detail }) => ({
    at: Date.parse(occurred_at),
    kind: 'state',
    isBad: badTurns.includes(type),
    title: label,
    source,
    detail: detail && inWords(detail),
  }));

/** The parts of a milestone's detail; the code of an error stands with its order already. */
const inWords = ({ error_type: _, ...detail }: Readonly<Record<string, unknown>>): string =>
  Object.values(detail).flat().join(' ');

/** What ends the placing of an order, and with it the hold. */
const placingEnds: readonly string[] = [
  'order_placed',
  'order_failed',
  'cancelled',
] satisfies readonly MilestoneType[];

/** A hold is no change of the balance: it comes before what is, and so does its release. */
function moneyEntries({ store }: Service, { record, body, fee, userId }: StoredOrder): FeedEntry[] {
  const { reserved } = walletTerms(body, fee);
  const wallet = (text: string): Content => html`<a href="${walletPath(userId)}">${text}</a>`;
  const entries = entriesOf(store, record.id).map(
    ({ at, kind, cents }): FeedEntry => ({
      at,
      kind: 'money',
      title: wallet(`${ledgerWords[kind]} ${signed(cents)}`),
      source: 'wallet',
    }),
  );
  if (reserved === 0) return entries;
  const hold = (at: string, title: string): FeedEntry => ({
    at: Date.parse(at),
    kind: 'money',
    title: wallet(title),
    source: 'wallet',
  });
  const end = milestones(record).milestones.find(({ type }) => placingEnds.includes(type));
  return [
    hold(record.created_at, `Held ${signed(-reserved)}`),
    ...(end ? [hold(end.occurred_at, `Released ${signed(reserved)}`)] : []),
    ...entries,
  ];
}

const mostAttempts = 200;

const attempts = ({ store }: Service, orderId: string): FeedEntry[] =>
  readAttemptsOf(store, orderId, mostAttempts).map(({ at, deliveryId, event, ...attempt }) => ({
    at,
    kind: 'webhook',
    isBad: attempt.error !== null,
    title: html`<a href="${deliveriesPath}/${deliveryId}">${event}</a> ${said(attempt)}`,
    source: `webhook, ${attempt.tookMs} ms`,
  }));

/** The requests about an order; of those that only read it, one after the other and with one status, the last. */
function requests({ requests: log }: Service, orderId: string): FeedEntry[] {
  const found = log?.about(orderId) ?? [];
  const isLikeNext = (index: number): boolean => {
    const [one, next] = [found[index]?.request, found[index + 1]?.request];
    return (
      one?.method === 'GET' &&
      next?.method === 'GET' &&
      one.target === next.target &&
      one.status === next.status
    );
  };
  let alike = 1;
  return found.flatMap(
    ({ number, sandboxAt, request: { method, target, status, fault } }, index): FeedEntry[] => {
      if (isLikeNext(index)) {
        alike += 1;
        return [];
      }
      const count = alike > 1 ? ` ×${alike}` : '';
      alike = 1;
      const title = html`<a href="${requestsPath}/${number}">${method} ${target}</a>${count} ${statusText(status)}`;
      const isBad = status === null || status >= 400;
      return [
        {
          at: sandboxAt,
          kind: 'request',
          isBad,
          title,
          source: fault === null ? 'request' : `request, fault ${fault}`,
        },
      ];
    },
  );
}

/** `+2.5 s`, and in minutes once tenths of a second say nothing. */
const sinceStart = (ms: number): string =>
  ms < 60_000 ? `+${(ms / 1000).toFixed(1)} s` : `+${Math.round(ms / 60_000).toLocaleString('en-US')} min`;
