import type { MilestoneType } from '../../api/enums.ts';
import { spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import { walletTerms } from '../orders/create.ts';
import { advance, milestones, nextDue } from '../orders/lifecycle/index.ts';
import type { OrderRecord, Step } from '../orders/lifecycle/types.ts';
import type { StoredOrder } from '../orders/records.ts';
import type { Exchange } from '../server/request-log.ts';
import { foreignJson } from '../server/secrets.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { entriesOf } from '../wallet/ledger.ts';
import type { LedgerKind } from '../wallet/wallet.ts';
import { isReceived } from '../webhooks/enqueue.ts';
import { type Delivery, readAttempts, readDeliveriesOf } from '../webhooks/read.ts';
import { attemptText } from './deliveries.ts';
import { onceField } from './form-action.ts';
import { age, colouredJson, dateTime, duration, markupBytes, prettyJson, truncated } from './parts.ts';
import { requestsPath, statusText } from './requests.ts';
import { deliveriesPath, ordersPath, walletPath } from './sections.ts';
import { ledgerWords, signed } from './wallet.ts';

/** Kinds of events on a timeline, with their headings in column order. */
const lanes = {
  request: 'Requests',
  state: 'State',
  parcel: 'Parcels',
  money: 'Money',
  webhook: 'Webhooks',
} as const;
type Lane = keyof typeof lanes;
const laneNames = Object.keys(lanes) as readonly Lane[];

interface Entry {
  /** Id of the entry. Updates of a live page do not change the id, so an open entry stays open. */
  readonly id: string;
  /** ms since the epoch, in sandbox time. */
  readonly at: number;
  readonly lane: Lane;
  readonly isBad?: boolean;
  readonly isWaiting?: boolean;
  readonly isFuture?: boolean;
  readonly title: Content;
  readonly note?: Content;
  /** JSON that is shown when the entry is opened. */
  readonly json?: string | undefined;
  readonly more?: Content;
}

/** Time span of one row, in ms. Entries within this span share a row. */
const momentMs = 100;

interface Moment {
  readonly id: string;
  readonly at: number;
  readonly isFuture: boolean;
  readonly entries: readonly Entry[];
}

/**
 * Maximum number of past entries shown. Earlier entries are only counted, because a client that polls would make the
 * page very long.
 */
const maxShown = 120;

/**
 * Renders the past and scheduled events of an order over sandbox time, with one lane for each kind of event. The
 * timeline is a list of moments. In a wide window, the list has columns. @param now ms since the epoch.
 */
export function orderTimeline(service: Service, order: StoredOrder, now: number): Content {
  const { record, plan } = order;
  const startedAt = Date.parse(record.created_at);
  const past = [
    ...requestEntries(service, order),
    ...stateEntries(record, 0),
    ...parcelEntries(record, 0),
    ...moneyEntries(service, order),
    ...webhookEntries(service, record.id, now),
  ].toSorted((one, other) => one.at - other.at);
  const left = Math.max(0, past.length - maxShown);
  const future = futureEntries(service, order).toSorted((one, other) => one.at - other.at);
  const shown = withinBudget(past.slice(left));
  const due = nextDue(plan) ?? undefined;
  const row = (moment: Moment, index: number, all: readonly Moment[]): Content =>
    momentRow(moment, { startedAt, before: all[index - 1]?.at, orderId: record.id });
  const next =
    due === undefined
      ? 'nothing more is scheduled'
      : due > now
        ? html`the next step is ${age(due, now)}`
        : 'the next step is now';
  return html`<p class="soft" id="now-line">Now it is ${dateTime(now)}; ${next}.</p><div class="feed holds${due !== undefined && ' grows'}" tabindex="0" role="group" aria-label="Timeline">${
    left > 0 && html`<p class="soft">${left.toLocaleString('en-US')} earlier ones are left out.</p>`
  }<p class="lane-heads" aria-hidden="true"><span>Time</span>${laneNames.map((name) => html`<span>${lanes[name]}</span>`)}</p>
<ol class="timeline">${momentsOf(shown, startedAt).map(row)}${momentsOf(future, startedAt).map(row)}</ol></div>`;
}

function momentsOf(entries: readonly Entry[], startedAt: number): Moment[] {
  const rows = new Map<number, Entry[]>();
  for (const entry of entries) {
    const bucket = Math.round((entry.at - startedAt) / momentMs);
    const known = rows.get(bucket);
    if (known) known.push(entry);
    else rows.set(bucket, [entry]);
  }
  return [...rows].map(([bucket, all]) => ({
    id: `at${bucket}`,
    at: all[0]?.at ?? startedAt,
    isFuture: all.every(({ isFuture }) => isFuture),
    entries: all,
  }));
}

/** A pause between two moments is displayed if it is at least this long, in ms. */
const longPauseMs = 60_000;

interface RowOptions {
  readonly startedAt: number;
  readonly before: number | undefined;
  readonly orderId: string;
}

function momentRow(
  { id, at, isFuture, entries }: Moment,
  { startedAt, before, orderId }: RowOptions,
): Content {
  const offset = Math.round((at - startedAt) / momentMs) * momentMs;
  const pause = before === undefined ? 0 : at - before;
  return html`<li class="moment${isFuture && ' next'}" id="${id}"><div class="when"><time datetime="${new Date(at).toISOString()}" title="${dateTime(at)}">${
    offset === 0 ? dateTime(at).slice(11) : sinceStart(offset)
  }</time>${pause >= longPauseMs && html` <small>${duration(pause)} later</small>`}${isFuture && jumpForm(orderId, at)}</div>${laneNames.map(
    (lane) => {
      const own = entries.filter((entry) => entry.lane === lane);
      return html`<div class="lane ${lane}">${own.length > 0 && html`<span class="lane-name">${lanes[lane]}</span>${own.map(entryItem)}`}</div>`;
    },
  )}</li>`;
}

function entryItem({ id, isBad, isWaiting, isFuture, title, note, json, more }: Entry): Content {
  const head = html`<span class="title">${title}</span>${note != null && html` <small>${note}</small>`}`;
  const mood = isBad ? ' bad' : isFuture ? ' next' : isWaiting ? ' wait' : '';
  if (json === undefined && more === undefined) return html`<div class="event${mood}">${head}</div>`;
  return html`<details class="event${mood}" id="${id}"><summary>${head}</summary>${
    json !== undefined && html`<pre tabindex="0" role="group" aria-label="JSON">${colouredJson(json)}</pre>`
  }${more}</details>`;
}

/** Renders a button that advances the clock to a scheduled moment. */
const jumpForm = (orderId: string, at: number): Content =>
  html`<form method="post" action="${ordersPath}/${orderId}/jump">${onceField()}<input type="hidden" name="to" value="${at}"><button class="jump">jump here<span class="unseen"> to ${dateTime(at)}</span></button></form>`;

/** Formats the time since the start, such as `+2.5 s`. From one minute on, uses the two largest units. */
function sinceStart(ms: number): string {
  const sign = ms < 0 ? '−' : '+';
  const size = Math.abs(ms);
  if (size < 60_000) return `${sign}${(size / 1000).toFixed(1)} s`;
  if (size < 3_600_000)
    return `${sign}${Math.floor(size / 60_000)} min ${Math.floor((size % 60_000) / 1000)} s`;
  if (size < 86_400_000)
    return `${sign}${Math.floor(size / 3_600_000)} h ${Math.floor((size % 3_600_000) / 60_000)} min`;
  return `${sign}${Math.floor(size / 86_400_000)} d ${Math.floor((size % 86_400_000) / 3_600_000)} h`;
}

/** Maximum size of the JSON of one entry, and of the JSON of all entries of a page. Both are in bytes of markup. */
const [maxEntryJson, maxAllJson] = [1_200, 7_000];

/**
 * Cuts the JSON of each entry to its limit. Once the newest entries have used up the limit for all entries, older
 * entries show no JSON.
 */
function withinBudget(entries: readonly Entry[]): Entry[] {
  let room = maxAllJson;
  return entries
    .toReversed()
    .map((entry): Entry => {
      if (entry.json === undefined) return entry;
      const pretty = prettyJson(entry.json);
      const cut = truncated(pretty, maxEntryJson);
      const json = cut.length < pretty.length ? `${cut}\n…` : pretty;
      room -= markupBytes(json);
      return room >= 0 ? { ...entry, json } : { ...entry, json: undefined };
    })
    .toReversed();
}

const badTurns: readonly string[] = [
  'order_failed',
  'cancelled',
  'undeliverable',
] satisfies readonly MilestoneType[];

/** @param known number of milestones to leave out, because the timeline already has them. */
const stateEntries = (record: OrderRecord, known: number): Entry[] =>
  milestones(record)
    .milestones.slice(known)
    .map(({ type, label, occurred_at, source, detail }, index) => ({
      id: `state${known + index}`,
      at: Date.parse(occurred_at),
      lane: 'state',
      isBad: badTurns.includes(type),
      title: html`<strong>${label}</strong>`,
      note: detail ? html`<bdi>${inWords(detail)}</bdi>` : source,
      json: JSON.stringify({ type, occurred_at, source, detail }),
    }));

/** Joins the values of a milestone's detail, except the error type. */
const inWords = ({ error_type: _, ...detail }: Readonly<Record<string, unknown>>): string =>
  Object.values(detail).flat().join(' ');

/**
 * Entries for the scans of all parcels, oldest first. @param known number of scans to leave out, because the timeline
 * already has them.
 */
const parcelEntries = (record: OrderRecord, known: number): Entry[] =>
  record.tracking_numbers
    .flatMap(({ carrier, tracking_number, checkpoints = [] }) =>
      checkpoints.toReversed().map((checkpoint) => ({ carrier, tracking_number, checkpoint })),
    )
    .toSorted(
      (one, other) =>
        Date.parse(one.checkpoint.checkpoint_time) - Date.parse(other.checkpoint.checkpoint_time),
    )
    .slice(known)
    .map(({ carrier, tracking_number, checkpoint }, index) => ({
      id: `parcel${known + index}`,
      at: Date.parse(checkpoint.checkpoint_time),
      lane: 'parcel',
      isBad: checkpoint.status === 'undeliverable',
      title: spoken(checkpoint.status),
      note: html`<bdi>${carrier}</bdi>`,
      json: JSON.stringify({ tracking_number, ...checkpoint }),
    }));

const endsPlacing = ({ record }: Step): boolean =>
  record.status !== 'pending' && record.status !== 'in_progress';

/** Milestones that end the placing phase and release the hold. */
const placingEnds: readonly string[] = [
  'order_placed',
  'order_failed',
  'cancelled',
] satisfies readonly MilestoneType[];

/** A movement of the wallet for an order. A hold or a release does not change the balance. */
export interface Movement {
  readonly at: number;
  readonly name: string;
  readonly cents: number;
  readonly kind: LedgerKind | 'hold' | 'release';
}

/** All movements of the wallet for an order, oldest first. The movements add up to the order's cost. */
export function movementsOf({ store }: Service, { record, body, fee }: StoredOrder): Movement[] {
  const { reserved } = walletTerms(body, fee);
  const entries = entriesOf(store, record.id).map(
    ({ at, kind, cents }): Movement => ({ at, kind, name: ledgerWords[kind], cents }),
  );
  if (reserved === 0) return entries;
  const end = milestones(record).milestones.find(({ type }) => placingEnds.includes(type));
  const hold: Movement = { at: Date.parse(record.created_at), kind: 'hold', name: 'Held', cents: -reserved };
  const release = (at: string): Movement => ({
    at: Date.parse(at),
    kind: 'release',
    name: 'Released',
    cents: reserved,
  });
  const all = [...entries, hold, ...(end ? [release(end.occurred_at)] : [])];
  return all.toSorted((one, other) => one.at - other.at || rankOf(one) - rankOf(other));
}

/** Order of movements at the same time: a payment comes before its hold, and a release before the charge. */
const rankOf = ({ kind }: Movement): number =>
  Math.max(0, ['payment', 'hold', 'release'].indexOf(kind) + 1) || 4;

const moneyTitle = (name: string, cents: number): Content =>
  html`${name} <span class="sum">${signed(cents)}</span>`;

const moneyEntries = (service: Service, order: StoredOrder): Entry[] =>
  movementsOf(service, order).map(({ at, name, cents, kind }, index) => ({
    id: `money${index}`,
    at,
    lane: 'money',
    title: moneyTitle(name, cents),
    json: JSON.stringify({ kind, cents, at: new Date(at).toISOString() }),
    more: html`<a href="${walletPath(order.userId)}">The wallet</a>`,
  }));

const maxDeliveries = 200;

/** One entry per delivery, at the time of the event. The entry shows the results of all attempts so far. */
const webhookEntries = ({ store }: Service, orderId: string, now: number): Entry[] =>
  readDeliveriesOf(store, orderId, maxDeliveries)
    .toReversed()
    .map((delivery) => {
      const { id, seq, event, createdAt, attempts, state, last } = delivery;
      const failures = attempts - (state === 'delivered' ? 1 : 0);
      const waits = state === 'open' && delivery.at > now && last !== null;
      return {
        id: `webhook${id}`,
        at: createdAt,
        lane: 'webhook',
        isBad: failures > 0 && state !== 'delivered',
        isWaiting: last === null,
        title: event,
        note: html`${webhookStory(store, delivery, failures)}${waits && html`, sent again ${age(delivery.at, now)}`}`,
        json: foreignJson(delivery.body) ?? undefined,
        more: html`${
          attempts > 0 &&
          html`<ol class="attempts" reversed>${readAttempts(store, seq, maxListed).map(
            (attempt) =>
              html`<li>${attemptText(attempt)} <small>${dateTime(attempt.at)}, ${attempt.tookMs} ms</small></li>`,
          )}</ol>`
        }<a href="${deliveriesPath}/${id}">The delivery</a>`,
      };
    });

/** Maximum number of attempts listed per delivery. */
const maxListed = 10;

/** Summarizes the attempts of a delivery, for example `2 × HTTP 503, then HTTP 200`. */
function webhookStory(store: Store, { seq, attempts, state, last }: Delivery, failures: number): string {
  if (state === 'behind') return 'waits its turn';
  if (!last) return 'is sent now';
  if (failures === 0) return `${attemptText(last)}, ${last.tookMs} ms`;
  if (attempts > maxListed) return `${attempts} attempts, last ${attemptText(last)}`;
  const results = readAttempts(store, seq, maxListed).toReversed();
  return `${inRuns(results.map(attemptText))}${state === 'given up' ? ', given up' : ''}`;
}

/** Entries for the scheduled steps of an order, and for the money movements and webhooks that the steps cause. */
function futureEntries({ store }: Service, order: StoredOrder): Entry[] {
  const { record, plan, reserved, fee } = order;
  const reached = advance({ record, plan }, Number.MAX_SAFE_INTEGER);
  const ahead = <E extends Entry>(entry: E): Entry => ({ ...entry, isFuture: true, json: undefined });
  const concerned = { userId: order.userId, webhooks: order.body.webhooks };
  const money = reached.steps.flatMap((step, index) => {
    const entry = (name: string, cents: number, part: string): Entry => ({
      id: `ahead${index}${part}`,
      at: step.at,
      lane: 'money',
      title: moneyTitle(name, cents),
    });
    const isFirstEnd = endsPlacing(step) && reached.steps.findIndex(endsPlacing) === index;
    return [
      ...(isFirstEnd && reserved > 0 ? [entry('Released', reserved, 'release')] : []),
      ...(step.kind === 'placed' && fee > 0 ? [entry(ledgerWords.fee, -fee, 'fee')] : []),
      ...step.ledger
        .filter(({ payer }) => payer === 'wallet')
        .map(({ reason, cents }) =>
          entry(ledgerWords[reason], reason === 'purchase' ? -cents : cents, reason),
        ),
    ];
  });
  const events = reached.steps.flatMap(({ at, events: fired }, index) =>
    fired
      .filter((event) => isReceived(store, concerned, event))
      .map((event): Entry => ({ id: `event${index}${event}`, at, lane: 'webhook', title: event })),
  );
  const scans = (of: OrderRecord): number =>
    of.tracking_numbers.reduce((sum, { checkpoints = [] }) => sum + checkpoints.length, 0);
  return [
    ...stateEntries(reached.record, milestones(record).milestones.length),
    ...parcelEntries(reached.record, scans(record)),
    ...money,
    ...events,
  ].map(ahead);
}

/**
 * Entries for the requests about an order. All attempts to create the order share one entry. Each run of identical
 * reads also shares one entry.
 */
function requestEntries({ requests: log, store }: Service, { record, userId }: StoredOrder): Entry[] {
  const key = store.get('SELECT idempotency_key AS key FROM orders WHERE id = ?', record.id)?.key;
  const found = log?.about(record.id, { key: key == null ? null : String(key), userId }) ?? [];
  const attempts = found.filter((one) => isCreation(one, key));
  const [first] = attempts;
  const others = found.filter((one) => !isCreation(one, key));
  return [
    ...(first && attempts.length > 1
      ? [story(attempts)]
      : attempts.map((one) => requestEntry(one, 1, record.id))),
    ...runsOf(others).map(({ last, count }) => requestEntry(last, count, record.id)),
  ];
}

const isCreation = (exchange: Exchange, key: unknown): boolean =>
  exchange.key !== null && exchange.key === key;

/** One entry for all attempts to create an order with the same idempotency key. Lists the result of each attempt. */
function story(attempts: readonly Exchange[]): Entry {
  const [first, last] = [attempts[0], attempts.at(-1)];
  const at = first?.sandboxAt ?? 0;
  return {
    id: `story${first?.number ?? 0}`,
    at,
    lane: 'request',
    title: html`<code>${first?.request.method} ${first?.request.target}</code>`,
    note: html`<b>${inRuns(attempts.map(clientStatus))}: one order</b>`,
    isBad: false,
    more: html`<p class="soft">${attempts.length} attempts under one key, ${spanText((last?.sandboxAt ?? at) - at)}:</p><ol class="attempts">${attempts.map(
      (one) =>
        html`<li><a href="${requestsPath}/${one.number}">Request ${one.number}</a> ${statusText(one.request.status)} <small>+${((one.sandboxAt - at) / 1000).toFixed(1)} s${
          one.rule !== null && html`, fault <code>${one.rule}</code>`
        }${one.code !== null && `, ${one.code}`}</small></li>`,
    )}</ol>`,
  };
}

const spanText = (ms: number): string => (ms < 1000 ? 'within a second' : `over ${duration(ms)}`);

const clientStatus = ({ request: { status } }: Exchange): string =>
  status === null ? 'broken off' : String(status);

/** Joins results in order, and counts repeated ones: `3 × 503, then 201`. */
function inRuns(results: readonly string[]): string {
  const runs: { value: string; count: number }[] = [];
  for (const value of results) {
    const last = runs.at(-1);
    if (last?.value === value) last.count += 1;
    else runs.push({ value, count: 1 });
  }
  const words = runs.map(({ value, count }) => (count > 1 ? `${count} × ${value}` : value));
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(', then ');
}

/** Replaces a run of identical reads with the same status by the last read of the run. */
function runsOf(found: readonly Exchange[]): { last: Exchange; count: number }[] {
  const runs: { last: Exchange; count: number }[] = [];
  for (const one of found) {
    const run = runs.at(-1);
    const before = run?.last.request;
    const { method, target, status } = one.request;
    const isAlike =
      method === 'GET' && before?.method === 'GET' && before.target === target && before.status === status;
    if (run && isAlike) Object.assign(run, { last: one, count: run.count + 1 });
    else runs.push({ last: one, count: 1 });
  }
  return runs;
}

function requestEntry(exchange: Exchange, count: number, orderId: string): Entry {
  const { number, sandboxAt, request, sent, received, instead, rule, code, isOfConsole } = exchange;
  const { method, target, status } = request;
  const isBad = status === null || status >= 400;
  const body = typeof instead === 'object' && instead ? instead.body.text : (received?.body.text ?? null);
  const isRead = method === 'GET' && !isBad;
  const json = isRead ? null : isBad ? body : sent.body.text;
  return {
    id: `request${number}`,
    at: sandboxAt,
    lane: 'request',
    isBad,
    title: html`<code>${method} ${target.replace(orderId, '…')}</code>${count > 1 && ` ×${count}`} ${statusText(status)}`,
    note: html`${isOfConsole ? 'console' : ''}${code !== null && html` ${code}`}${rule !== null && html` fault <code>${rule}</code>`}`,
    json: json ?? undefined,
    more: html`<a href="${requestsPath}/${number}">Request ${number}</a>`,
  };
}
