import { numberIn, textIn } from '../api/json.ts';
import type { Output } from '../api/outputs/index.ts';
import type { Shape } from '../api/schemas/index.ts';
import { embeddedUrl } from '../config/stored.ts';
import { formatMoney } from '../format/money.ts';
import { durationText } from '../format/time.ts';
import { contentHash } from '../journal/content.ts';
import { payloadFromFlags } from '../orders/input/assemble.ts';
import { checkOrder, inUsersWords } from '../orders/input/check.ts';
import { metadataOf, withReference } from '../orders/needs/reference.ts';
import { isOfAccount } from '../orders/needs/settle-sent.ts';
import { type OrderRecord, stateOfOrder } from '../orders/order-record.ts';
import { placeOrder, previewOrder } from '../orders/submit/submit.ts';
import { ErrandError, exitCodes, type NextStep, stopOf, UsageError } from '../platform/errors.ts';
import { safeText } from '../platform/redact/safe-text.ts';
import { shellLine, shellWord } from '../platform/shell.ts';
import type { Context } from '../run/context.ts';
import { whereFlags } from '../run/context-flags.ts';
import { chargeOf } from '../spending/price-of-order.ts';
import { type Day, dateText, dayAt, dueAt, nextDates } from './cadence.ts';
import { isLimited } from './consent.ts';
import { countAndRemember, isEdited, rememberedEntry } from './counting.ts';
import type { StandingEntry } from './entries.ts';
import { entriesOf, entryNamed } from './file.ts';
import { type DateOrder, metadataFor, ownMetadata, referenceFor, versionIn } from './orders.ts';
import {
  couldBeBought,
  covers,
  foreignOrder,
  idleUntil,
  listSince,
  type PlannedDate,
  planDates,
  retryAfterMs,
  type Verdict,
} from './plan.ts';
import { type OpenRequest, openRequests, ordersOfEntry, settleRequest } from './requests.ts';
import type { Running, RunRequest, RunResult } from './run.ts';
import { isoMinute, scheduleFieldsOf } from './schedule-fields.ts';
import { noTime, serviceTime } from './service-time.ts';

type DateRow = Output<'StandingDate'>;

/** The fields of a row that depend on what became of the date. */
type RowFacts = Pick<DateRow, 'outcome' | 'exit_code'> &
  Partial<Pick<DateRow, 'order_id' | 'message'>> & { readonly next?: readonly NextStep[] };

/**
 * For each entry that may have a due date, reads the entry's orders from the service. Then places the missing orders
 * one after another. A date that cannot be bought is reported, but does not stop the others.
 * @throws ErrandError if the service cannot be read before any order was placed, or if the run is interrupted.
 */
export async function placeDue(running: Running, { names, until, standing }: RunRequest): Promise<RunResult> {
  const { context, file } = running;
  const all = await entriesOf(file);
  if (all.length > 0) checkFolders(context);
  for (const name of names) entryNamed(all, name, file.path);
  const entries = all.filter(({ name }) => names.length === 0 || names.includes(name));
  const where = `${standing === undefined ? '' : ` --standing ${shellWord(standing)}`}${whereFlags(context)}`;
  const rows: DateRow[] = [];
  let failure: ErrandError | undefined;
  const open = await openRequests(context);
  // This run may be killed after it has sent a request. Therefore make the next run check everything.
  if (!context.previewsRequests) {
    running.memory.leaveOthers(
      file.path,
      all.map(({ id }) => id),
      context.serviceClock.now(),
    );
    forgetIdle(running);
  }
  try {
    await placeEntries();
  } catch (error) {
    // Report the failure, but still return the rows for the orders that were already placed.
    if (!(error instanceof ErrandError) || stopOf(error) || rows.length === 0) throw error;
    failure = error;
    await context.report(error);
  }
  if (!context.previewsRequests && open.length === 0) rememberIdle(running, all);
  const codes = [...rows, ...(failure ? [{ exit_code: failure.exitCode }] : [])];
  return { rows, exitCode: exitCodeOf(codes), hints: hintsFor(context, entries, rows) };

  async function placeEntries(): Promise<void> {
    await settleRemoved();
    for (const entry of entries) {
      const requests = open.filter(({ id }) => id === entry.id);
      const isDue = !entry.isPaused && (until !== undefined || mayBeDue(running, entry));
      if (!isDue && requests.length === 0) continue;
      if (await new EntryRun(running, entry, where, requests).work(rows, until)) return;
    }
  }

  /** Settles requests of entries that were removed from the file. Such entries buy nothing more. */
  async function settleRemoved(): Promise<void> {
    const removed = open.filter(({ id }) => !all.some((entry) => entry.id === id));
    if (removed.length > 0 && !context.previewsRequests) await context.ready();
    for (const request of removed) {
      const row = await settleRequest(context, { request, entry: undefined, where });
      if (row) addRow(rows, row);
    }
  }
}

/** @throws ErrandError if other users may replace the configuration or state folder. */
function checkFolders({ looseFolders }: Context): void {
  if (!looseFolders) return;
  throw new UsageError(`the standing orders cannot be relied on: ${looseFolders.message}`, {
    code: 'folder_replaceable',
    hint: looseFolders.remedy,
  });
}

function mayBeDue({ context, memory }: Running, entry: StandingEntry): boolean {
  if (context.settings.baseUrl.value === embeddedUrl || isEdited(entry, memory)) return true;
  const { closed } = memory.entry(entry.id);
  return idleUntil(rememberedEntry(entry, memory), context.clock.now(), closed) === undefined;
}

/** Makes the next run check everything, even if the file does not change. */
function forgetIdle({ file, memory }: Running): void {
  memory.setIdle(file.path, undefined);
  memory.save();
}

/**
 * Remembers a time before which no date can be due. If a date may be due now, remembers nothing, so that the next run
 * checks that date.
 */
function rememberIdle({ context, file, memory, sha256 }: Running, entries: readonly StandingEntry[]): void {
  const now = context.clock.now();
  const ends = entries.map((entry) =>
    idleUntil(rememberedEntry(entry, memory), now, memory.entry(entry.id).closed),
  );
  const isIdle = ends.every((end) => end !== undefined);
  const until = Math.min(Number.MAX_SAFE_INTEGER, ...ends.map((end) => end ?? 0));
  memory.setIdle(file.path, isIdle ? { sha256, from: now, until } : undefined);
  memory.save();
}

/**
 * Combines the results of several dates into an exit code. It is 10 if any date is in doubt. Otherwise it is the code
 * of the dates that went wrong, 7 if these have different codes, or 0 if none went wrong. Pure.
 */
export function exitCodeOf(rows: readonly Pick<DateRow, 'exit_code'>[]): number {
  const codes = new Set(rows.map(({ exit_code: code }) => code).filter((code) => code !== 0));
  if (codes.has(exitCodes.in_doubt)) return exitCodes.in_doubt;
  const [only, other] = codes;
  return other === undefined ? (only ?? 0) : exitCodes.ended_badly;
}

function hintsFor(
  { serviceClock, previewsRequests }: Context,
  entries: readonly StandingEntry[],
  rows: readonly DateRow[],
): string[] {
  if (previewsRequests) return rows.length === 0 ? [] : ['nothing was ordered'];
  if (rows.length > 0) return [];
  const now = serviceClock.now();
  const coming = entries
    .filter(({ isPaused }) => !isPaused)
    .flatMap(({ name, schedule, skipped }) => {
      const dates = nextDates(schedule, dayAt(schedule.timeZone, now), 2 + skipped.length);
      const day = dates.find((one) => !skipped.includes(one) && dueAt(schedule, one) > now);
      return day === undefined ? [] : [{ name, day, at: dueAt(schedule, day) }];
    })
    .toSorted((a, b) => a.at - b.at);
  const [first] = coming;
  return first ? [`next: ${first.name} on ${dateText(first.day)}`] : [];
}

/** Works through the dates of one entry. */
class EntryRun {
  readonly #running: Running;
  /**
   * The entry. `#count` replaces it by an entry with only the dates that count, according to the file and this machine.
   */
  #entry: StandingEntry;
  /** Flags that make a suggested command use the same file and service. */
  readonly #where: string;
  /**
   * Whether this machine sees the entry for the first time. A job without persistent memory always does. Until the file
   * states when dates count, each run of such a job reports the dates that an edit by hand left out.
   */
  #isNew = false;
  /** Requests for the entry that earlier runs sent but did not settle or report, keyed by date. */
  readonly #open: Map<Day, OpenRequest>;

  constructor(running: Running, entry: StandingEntry, where: string, open: readonly OpenRequest[]) {
    this.#running = running;
    this.#entry = entry;
    this.#where = where;
    this.#open = new Map(open.map((request) => [request.day, request]));
  }

  /**
   * Adds a row for each date about which there is something to report.
   * @returns whether the run has to end.
   */
  async work(rows: DateRow[], until: number | undefined): Promise<boolean> {
    const { context, memory } = this.#running;
    const { closed, versions } = memory.entry(this.#entry.id);
    await context.ready();
    const reopened = [...this.#open.keys()];
    const inDoubt = await this.#settleChanged(rows);
    if (this.#entry.isPaused) return false;
    const sinceAt = (now: number): number =>
      listSince(this.#entry, { now: now - clockReserveMs, closed, reopened });
    const since = sinceAt(context.clock.now());
    let orders = await ordersOfEntry(context, this.#entry, { since, closed, reopened });
    if (!context.serviceClock.isHeard) throw noTime();
    const needed = sinceAt(context.serviceClock.now());
    if (needed < since)
      orders = await ordersOfEntry(context, this.#entry, { since: needed, closed, reopened });
    if (!context.previewsRequests) {
      memory.addVersion(this.#entry.id, this.#entry.version);
      memory.save();
    }
    const now = context.serviceClock.now();
    const leftOut = this.#count();
    const entry = this.#entry;
    const foreign = foreignOrder(entry, orders, versions);
    if (foreign) {
      const row = this.#row(foreign.day, this.#differs(foreign.id, foreign.version, foreign.day));
      rows.push(row);
      if (!context.previewsRequests) await context.report(this.#errorOf(row));
      await this.#settleRest(rows);
      return false;
    }
    const isMet = (day: Day): boolean => orders.some((one) => one.day === day || covers(entry, one, day));
    for (const day of leftOut) {
      if (isMet(day)) continue;
      const row = this.#row(day, this.#leftOut());
      addRow(rows, row);
      if (row.exit_code !== 0 && !context.previewsRequests) await context.report(this.#errorOf(row));
    }
    const planned = planDates(entry, { now, orders, closed, reopened, until });
    for (const date of planned) {
      if (inDoubt.has(date.day)) continue;
      if (this.#open.has(date.day) && date.verdict !== 'place') continue;
      this.#open.delete(date.day);
      const facts = context.previewsRequests ? await this.#preview(date, now) : await this.#do(date, now);
      if (facts) addRow(rows, this.#row(date.day, facts));
      if (facts?.exit_code === exitCodes.authentication || facts?.exit_code === exitCodes.unavailable)
        return true;
    }
    await this.#settleRest(rows);
    if (!context.previewsRequests) {
      for (const { day, isOver } of planned) if (isOver) memory.close(entry.id, day);
      memory.save();
    }
    return false;
  }

  /**
   * Determines which dates of the entry count.
   * @returns past dates that an edit by hand added, unless an earlier run has already reported them.
   */
  #count(): readonly Day[] {
    const { context, file, memory } = this.#running;
    const before = memory.schedule(this.#entry.id);
    const { entry, leftOut, known } = countAndRemember(context, { file, memory, entry: this.#entry }, 'run');
    this.#entry = entry;
    this.#isNew = before === undefined;
    return known.isReported ? [] : leftOut;
  }

  /** Builds the row for a past date that is not bought, because an edit by hand added it after it was due. */
  #leftOut(): RowFacts {
    const { name } = this.#entry;
    const { late } = scheduleFieldsOf(this.#entry);
    return {
      outcome: 'skipped',
      exit_code: this.#isNew ? exitCodes.ended_badly : 0,
      message: 'it was due before the schedule was edited by hand',
      next: [
        {
          command: shellLine`errand standing edit ${name} --late ${late}` + this.#where,
          when: 'to write down from when on its dates count, for machines that have not seen it before',
        },
      ],
    };
  }

  /**
   * Settles requests that the entry would no longer send in the same form. Any other request is sent again when the
   * order for its date is placed.
   * @returns the dates that are still in doubt.
   */
  async #settleChanged(rows: DateRow[]): Promise<ReadonlySet<Day>> {
    const inDoubt = new Set<Day>();
    if (this.#open.size === 0) return inDoubt;
    const now = await serviceTime(this.#running.context);
    for (const request of [...this.#open.values()]) {
      if (request.record.state === 'intended' && (await this.#isAskedFor(request, now))) continue;
      this.#open.delete(request.day);
      const row = await this.#settle(request, rows);
      if (row?.outcome === 'unknown') inDoubt.add(request.day);
    }
    return inDoubt;
  }

  /** Settles the remaining requests. They are not sent again, because another order decides about their dates. */
  async #settleRest(rows: DateRow[]): Promise<void> {
    for (const request of this.#open.values()) await this.#settle(request, rows);
  }

  async #settle(request: OpenRequest, rows: DateRow[]): Promise<DateRow | undefined> {
    const sent = { request, entry: this.#entry, where: this.#where };
    const row = await settleRequest(this.#running.context, sent);
    if (row) addRow(rows, row);
    return row;
  }

  /** Whether the entry would still place an order for the date with the same content as the request. */
  async #isAskedFor({ day, record }: OpenRequest, now: number): Promise<boolean> {
    const entry = this.#entry;
    if (entry.isPaused || entry.skipped.includes(day) || !couldBeBought(entry, day, now)) return false;
    const { context } = this.#running;
    if ((await this.#consentProblem()) || !(await isOfAccount(context, record))) return false;
    try {
      const body = withReference(await bodyOf(entry), referenceFor(entry, day));
      return contentHash(record.operation, body) === record.body_hash;
    } catch (error) {
      if (error instanceof UsageError) return false;
      throw error;
    }
  }

  async #do(date: PlannedDate, now: number): Promise<RowFacts | undefined> {
    if (date.verdict === 'place') return this.#place(date);
    if (isSilent.has(date.verdict)) return undefined;
    const facts = this.#describe(date, now);
    if (facts.exit_code !== 0) await this.#running.context.report(this.#errorOf(this.#row(date.day, facts)));
    return facts;
  }

  /**
   * Predicts what a run would do about a date. The prediction includes the exit code, as far as it is already known.
   */
  async #preview(date: PlannedDate, now: number): Promise<RowFacts> {
    if (date.verdict !== 'place') return { ...this.#describe(date, now), exit_code: 0, next: [] };
    const { context } = this.#running;
    try {
      const problem = await this.#consentProblem();
      if (problem) throw problem;
      const body = await bodyOf(this.#entry);
      const placing = {
        isNew: false,
        reference: referenceFor(this.#entry, date.day),
        door: 'standing',
      } as const;
      const { exitCode = 0, isMet } = await previewOrder(context, body, placing);
      const outcome = isMet ? 'existed' : (refusals[exitCode] ?? 'would_place');
      const next = date.order ? this.#raise(date.order, ifItFails) : [];
      return { outcome, exit_code: exitCode, message: afterFailure(date.order), next };
    } catch (error) {
      if (!(error instanceof ErrandError) || stopOf(error)) throw error;
      const outcome = error.category === 'policy' ? 'refused' : 'failed';
      return { outcome, exit_code: error.exitCode, message: error.message, next: error.facts.next ?? [] };
    }
  }

  /** Describes a date for which no order is placed at present. */
  #describe({ verdict, order, day, dueAt: due }: PlannedDate, now: number): RowFacts {
    const id = order?.id ?? null;
    const state = order && stateText(order.order);
    const texts: Readonly<Record<Exclude<Verdict, 'place'>, () => RowFacts>> = {
      bought: () => ({ outcome: 'bought', exit_code: 0, order_id: id }),
      withdrawn: () => ({
        outcome: 'withdrawn',
        exit_code: 0,
        order_id: id,
        message: `its order ended: ${state}`,
      }),
      skipped: () => ({ outcome: 'skipped', exit_code: 0 }),
      upcoming: () => ({ outcome: 'upcoming', exit_code: 0 }),
      closing: () => ({ outcome: 'missed', exit_code: 0, order_id: id, message: 'too late for an order' }),
      unsettled: () => ({
        outcome: 'waiting',
        exit_code: exitCodes.in_doubt,
        message: `waits until it is known whether ${order ? dateText(order.day) : 'a date close to it'} was bought`,
        next: [{ command: `errand standing run${this.#where}`, when: 'in some minutes: looks for it again' }],
      }),
      covered: () => ({
        outcome: 'covered',
        exit_code: 0,
        order_id: id,
        message: `the dates have moved, and ${order ? dateText(order.day) : 'another'} was bought`,
      }),
      waiting: () => ({
        outcome: 'waiting',
        exit_code: exitCodes.ended_badly,
        order_id: id,
        message: `${state}; tried again in ${durationText(Math.max(60_000, minutes((order?.madeAt ?? now) + retryAfterMs(this.#entry) - now)))}`,
        next: this.#remedies(order),
      }),
      failed: () => ({
        outcome: 'failed',
        exit_code: exitCodes.ended_badly,
        order_id: id,
        message: `${state}; too late for another order`,
        next: this.#remedies(order, 'to raise its ceiling for the dates to come'),
      }),
      missed: () => ({
        outcome: 'missed',
        exit_code: exitCodes.ended_badly,
        message: `it was not bought from ${isoMinute(due)} until ${isoMinute(due + this.#entry.lateMs)}, and is too late now`,
        next: [
          {
            command: `${shellLine`errand standing show ${this.#entry.name}`}${this.#where}`,
            when: `to see the dates after ${dateText(day)}`,
          },
        ],
      }),
    };
    return verdict === 'place' ? { outcome: 'would_place', exit_code: 0 } : texts[verdict]();
  }

  /**
   * Suggests what to do about a failed order. If the price was above the order's ceiling, suggests a higher ceiling.
   */
  #remedies(order: DateOrder | undefined, why = atOnce): readonly NextStep[] {
    if (!order) return [];
    return [
      ...this.#raise(order, why),
      {
        command: shellLine`errand order explain ${order.id}` + whereFlags(this.#running.context),
        when: 'to see why it failed',
      },
    ];
  }

  /** Suggests a command that raises the ceiling, if the order's price was above the ceiling. */
  #raise({ order }: DateOrder, why: string): readonly NextStep[] {
    const { name, order: content } = this.#entry;
    const ceiling = numberIn(content, 'max_price');
    if (!isTooDear(order) || ceiling === undefined) return [];
    const raised = formatMoney(Math.ceil(Math.max(ceiling * 1.25, priceOf(order) ?? 0) / 100) * 100);
    return [
      { command: shellLine`errand standing edit ${name} --max-price ${raised}` + this.#where, when: why },
    ];
  }

  /** Places the order for a date in the same way as `order create --reference`. */
  async #place({ day, order: before }: PlannedDate): Promise<RowFacts> {
    const { context } = this.#running;
    try {
      const problem = await this.#consentProblem();
      if (problem) throw problem;
      const body = await bodyOf(this.#entry);
      const { order, existed } = await inUsersWords(this.#entry.position, () =>
        placeOrder(context, body, {
          ...{ isNew: false, reference: referenceFor(this.#entry, day), door: 'standing' },
        }),
      );
      const version = versionIn(order);
      const id = textIn(order, 'id') ?? null;
      if (existed && version !== undefined && !this.#isKnown(version)) {
        const facts = this.#differs(id, version, day);
        await context.report(this.#errorOf(this.#row(day, facts)));
        return facts;
      }
      if (existed) return { outcome: 'existed', exit_code: 0, order_id: id };
      const next = before ? this.#raise(before, ifItFails) : [];
      for (const { command, when } of next)
        context.note(`${this.#entry.name}, ${dateText(day)}: ${afterFailure(before)}; ${command} — ${when}`);
      return { outcome: 'placed', exit_code: 0, order_id: id, message: afterFailure(before), next };
    } catch (error) {
      if (!(error instanceof ErrandError) || stopOf(error)) throw error;
      return this.#notPlaced(error, day);
    }
  }

  /** Whether a version is the entry's current version or an earlier one. */
  #isKnown(version: string): boolean {
    const { id, version: own, former } = this.#entry;
    return [own, ...former, ...this.#running.memory.entry(id).versions].includes(version);
  }

  async #notPlaced(error: ErrandError, day: Day): Promise<RowFacts> {
    const { context } = this.#running;
    const { code = '', details, next = [] } = error.facts;
    const id = textIn(details, 'order_id') ?? null;
    // If somebody cancelled or returned the order after the run had read it, the verdict on the date is `withdrawn`.
    if (code === 'reference_cancelled' || code === 'reference_returned')
      return { outcome: 'withdrawn', exit_code: 0, order_id: id, message: error.message };
    const { name } = this.#entry;
    await context.report(
      new ErrandError(error.category, `${name}, ${dateText(day)}: ${error.message}`, {
        ...error.facts,
        cause: error,
      }),
    );
    const outcome =
      error.category === 'in_doubt' || error.facts.outcome === 'unknown'
        ? 'unknown'
        : error.category === 'policy'
          ? 'refused'
          : error.category === 'conflict'
            ? 'conflict'
            : 'failed';
    return { outcome, exit_code: error.exitCode, order_id: id, message: error.message, next };
  }

  /**
   * The error for an entry that has no consent to spend real money. Undefined if it has consent, or if this is a
   * rehearsal.
   */
  async #consentProblem(): Promise<ErrandError | undefined> {
    const { context } = this.#running;
    const { agreement, name, position } = this.#entry;
    if (context.isRehearsal() || agreement === 'typed') return undefined;
    if (agreement === 'policy' && (await isLimited(context))) return undefined;
    const why =
      agreement === 'policy'
        ? 'says live: policy, and no policy limits what is spent'
        : 'does not say live: true';
    return new ErrandError(
      'policy',
      `this spends real money, and nobody has agreed to that for ${name}: ${position} ${why}`,
      {
        code: 'standing_not_agreed',
        outcome: 'not_sent',
        retryable: false,
        next: [
          {
            command: shellLine`errand standing edit ${name} --live` + this.#where,
            when: 'to agree, with the key in use',
          },
        ],
      },
    );
  }

  #differs(id: string | null, version: string | undefined, day: Day): RowFacts {
    const { name, version: own, position } = this.#entry;
    return {
      outcome: 'conflict',
      exit_code: exitCodes.conflict,
      order_id: id,
      message: `the order for ${dateText(day)} was placed for another version of ${name} (${version}) than that of ${position} (${own}); nothing was ordered: another machine has another file`,
      next: [
        {
          command: `${shellLine`errand standing show ${name}`}${this.#where}`,
          when: 'to compare it with the file of the other machine',
        },
        ...(version === undefined
          ? []
          : [
              {
                command: shellLine`errand standing edit ${name} --follows ${version}` + this.#where,
                when: 'if this file is the newer one',
              },
            ]),
      ],
    };
  }

  #errorOf({ date, message, exit_code: code, next, outcome, order_id: id }: DateRow): ErrandError {
    return new ErrandError(
      code === exitCodes.conflict ? 'conflict' : code === exitCodes.in_doubt ? 'in_doubt' : 'ended_badly',
      `${this.#entry.name}, ${date}: ${message}`,
      {
        code: `standing_${outcome}`,
        details: { name: this.#entry.name, date, ...(id !== null && { order_id: id }) },
        outcome:
          outcome === 'missed' || outcome === 'skipped' || code === exitCodes.in_doubt
            ? 'not_sent'
            : 'applied',
        retryable: outcome === 'waiting',
        next,
      },
    );
  }

  #row(day: Day, { order_id: id = null, message = null, next = [], ...facts }: RowFacts): DateRow {
    const { name, id: entryId, schedule, order } = this.#entry;
    return {
      ...{ name, id: entryId, date: dateText(day) },
      due_at: new Date(dueAt(schedule, day)).toISOString(),
      outcome: facts.outcome,
      reference: metadataOf(referenceFor(this.#entry, day)),
      order_id: id,
      max_price: numberIn(order, 'max_price') ?? 0,
      message,
      exit_code: facts.exit_code,
      next: [...next],
    };
  }
}

/** Adds the final row for a date. It replaces an earlier row about a request for that date. */
function addRow(rows: DateRow[], row: DateRow): void {
  const before = rows.findIndex(({ id, date }) => id === row.id && date === row.date);
  if (before >= 0) rows.splice(before, 1);
  rows.push(row);
}

const atOnce = 'to raise its ceiling; the next run then tries again at once';
const ifItFails = 'to raise its ceiling, should this one fail as well';

/** Outcomes for dates in a preview, keyed by exit code. */
const refusals: Readonly<Record<number, DateRow['outcome']>> = {
  [exitCodes.policy]: 'refused',
  [exitCodes.conflict]: 'conflict',
  [exitCodes.in_doubt]: 'unknown',
};

/** Verdicts about which a run reports nothing. */
const isSilent: ReadonlySet<Verdict> = new Set(['bought', 'withdrawn', 'skipped', 'closing']);

/** Margin, in ms, in case this machine's clock is fast. The listing of orders begins earlier by this margin. */
const clockReserveMs = 50 * 3600 * 1000;

/**
 * The order of an entry in the form in which it is sent.
 * @throws UsageError naming the entry's position if the contract does not allow the order.
 */
export async function bodyOf(entry: StandingEntry): Promise<Shape<'OrderCreate'>> {
  const body = await checkOrder(await payloadFromFlags({}, entry.order), entry.position);
  const foreign = Object.keys(body.metadata ?? {}).find((key) => ownMetadata.test(key));
  if (foreign !== undefined)
    throw new UsageError(`${entry.position}: metadata ${foreign} is errand's own; take another name`);
  return { ...body, metadata: { ...body.metadata, ...metadataFor(entry) } };
}

const maxState = 60;

function stateText(order: OrderRecord): string {
  const state = safeText(stateOfOrder(order).text, maxState);
  const [price, ceiling] = [priceOf(order), numberIn(order, 'max_price')];
  if (!isTooDear(order) || ceiling === undefined) return state;
  return `${state}${price === undefined ? '' : ` of ${formatMoney(price)}`} above the ceiling of ${formatMoney(ceiling)}`;
}

const isTooDear = ({ job_result: result }: OrderRecord): boolean =>
  textIn(result, 'error_type') === 'max_price_exceeded';

/** What an order would have cost, in cents. Undefined if that is unknown. */
function priceOf(order: OrderRecord): number | undefined {
  const charge = chargeOf(order);
  return charge?.currency === 'USD' ? charge.cents : undefined;
}

const afterFailure = (before: DateOrder | undefined): string | null =>
  before ? `the one before (${before.id}) ended: ${stateText(before.order)}` : null;

const minutes = (ms: number): number => Math.ceil(ms / 60_000) * 60_000;
