import { uuidPattern } from '../../api/limits.ts';
import type { ShownState } from '../../api/order-state.ts';
import { defineCommand } from '../../cli/define.ts';
import { type Paint, paintFor, paintMood } from '../../cli/output/paint.ts';
import { writerOf } from '../../cli/output/writer.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { signed } from '../../format/cell.ts';
import type { ListResult, StreamResult } from '../../format/result.ts';
import { cut, fullMeasure, type Measure, pad } from '../../format/width.ts';
import {
  type ListenOptions,
  type ListenRecord,
  type ListenSummary,
  listen,
  type ShownEvent,
} from '../../integrations/webhooks/listen.ts';
import {
  eventNames,
  makeSecret,
  olderNames,
  sameEvents,
  secretOf,
  signingSecretOf,
} from '../../integrations/webhooks/listener.ts';
import type { EventLog } from '../../journal/events.ts';
import { exitCodes, UsageError } from '../../platform/errors.ts';
import { isLoopback } from '../../platform/net/lookup.ts';
import { stoppedWith } from '../../platform/poll.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { readOrder, readReturn, runner, sender } from './acting.ts';
import { eventColumns, stateOfEvent } from './columns.ts';
import { forwardTarget, registerWhileListening, registrationScope } from './registration.ts';

export const listenCommand = defineCommand({
  name: 'listen',
  summary: 'Receive events: show, store and forward them',
  description:
    'Stores each event before acknowledging it, and shows duplicates once. errand reads the order again from the service, and shows, forwards and passes that to the command. Where the service signs events, one whose signature is missing or wrong is refused. Ctrl-C ends it.',
  options: {
    port: { kind: 'integer', min: 0, max: 65_535, description: 'port to listen on (default: a free one)' },
    host: { kind: 'text', description: 'address to listen on (default 127.0.0.1)' },
    allowRemote: { kind: 'flag', description: 'listen on an address that other machines reach' },
    secretFile: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'file that keeps the secret of the address, so that it stays the same; created if missing',
    },
    signingSecretFile: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description:
        'file with the secret that events are signed with (default: what registering returned here)',
    },
    register: { kind: 'flag', description: 'register the address with the service while listening' },
    publicUrl: {
      kind: 'text',
      placeholder: 'url',
      description: 'public URL of a tunnel to this listener; the secret is added to it',
    },
    events: { kind: 'list', values: eventNames, description: 'only these' },
    unverified: {
      kind: 'flag',
      description: 'trust events as received, instead of reading each order again from the service',
    },
    forwardTo: {
      kind: 'text',
      placeholder: 'url',
      description: 'forward the order of each event to this URL; --retries sets how often to retry (4)',
    },
    allowPrivate: { kind: 'flag', description: 'let a name in --forward-to lead to a private address' },
    exec: {
      kind: 'text',
      placeholder: 'command',
      description:
        'run this for each event: the order as JSON on stdin, ERRAND_EVENT and ERRAND_ORDER_ID set, no key of errand',
    },
    max: { kind: 'integer', min: 1, placeholder: 'n', description: 'end after so many events' },
  },
  examples: [
    { command: 'errand webhook listen', note: 'an address of this machine, until Ctrl-C' },
    {
      command: 'errand webhook listen --register -o ndjson',
      note: 'for a script: what the service itself says, one record a line',
    },
    {
      command: 'errand webhook listen --forward-to http://localhost:3000/hooks',
      note: 'send events on to a server under development',
    },
    {
      command: "errand webhook listen --events status_updated --exec 'jq -r .status'",
      note: 'a command for each event',
    },
  ],
  output: [{ list: 'ReceivedEvent' }, { events: 'ListenRecord' }],
  operations: ['webhook.register', 'order.get', 'return.get'],
  exitCodes: { 7: 'an event could not be forwarded, or its command failed', 8: '--timeout passed' },
  related: ['webhook wait', 'webhook events', 'webhook replay', 'webhook register'],
  async run(context, { port = 0, host = '127.0.0.1', allowRemote = false, secretFile, register, ...more }) {
    const { signingSecretFile } = more;
    if (!isLoopback(host) && !allowRemote) {
      throw new UsageError(`--host ${host} can be reached by other machines`, {
        next: [
          {
            command: shellLine`errand webhook listen --host ${host} --allow-remote`,
            when: 'if that is meant',
          },
        ],
      });
    }
    if (context.previewsRequests && !register)
      throw new UsageError('nothing is sent without --register, so there is no request to show');
    if (more.publicUrl !== undefined) forwardTarget(context, '--public-url', more.publicUrl, true);
    for (const line of olderNames(more.events ?? [])) context.note(`note: ${line}`);
    const { forwardTo, exec, allowPrivate = false, unverified = false, events } = more;
    const signingSecret = signingSecretFile && signingSecretOf(signingSecretFile, context.note);
    if (signingSecret) redactor.remember([signingSecret]);
    const { events: log, registrations } = await context.webhooks();
    const scope = registrationScope(context);
    const shown = new Shown(context, log);
    const records = listen({
      host,
      port,
      secret: secretFile === undefined ? makeSecret() : secretOf(secretFile, context.note),
      publicUrl: more.publicUrl,
      log,
      profile: context.settings.profile.value,
      baseUrl: context.settings.baseUrl.value,
      clock: context.clock,
      signal: context.signal,
      max: more.max,
      forMs: context.waitMs(),
      shown: (id) => shown.handedOut(id),
      wants: eventFilter(events),
      begin: (url) => begin(context, register === true, url),
      signingSecret: () => signingSecret || registrations.secret(scope),
      reread: unverified ? undefined : (id) => readOrder(context, id),
      rereadReturn: (id) => readReturn(context, id),
      forward: forwardTo === undefined ? undefined : sender(context, forwardTo, allowPrivate),
      exec: exec === undefined ? undefined : runner(context, exec),
    });
    return listenResult(context, records, shown, log);
  },
});

/**
 * Runs the embedded sandbox and registers the listener's address with it. The embedded sandbox delivers events only
 * while a process runs it.
 */
async function begin(context: Context, registers: boolean, url: string): Promise<() => Promise<void>> {
  const { listeners } = await context.webhooks();
  const stopSandbox = await runSandbox(context);
  try {
    const restore = registers ? await registerWhileListening(context, url) : undefined;
    const id = await listeners.begin(context.settings.baseUrl.value, url);
    return async () => {
      await listeners.end(id);
      await stopSandbox?.();
      await restore?.();
    };
  } catch (error) {
    await stopSandbox?.();
    throw error;
  }
}

async function runSandbox({ settings, previewsRequests, signal }: Context) {
  if (previewsRequests || settings.baseUrl.value !== embeddedUrl) return undefined;
  const { openEmbeddedSandbox } = await import('../../sandbox-door.ts');
  return (await openEmbeddedSandbox(settings.folders.state, { ...settings.sandbox, signal })).close;
}

function eventFilter(events: readonly string[] | undefined): ListenOptions['wants'] {
  if (!events) return () => true;
  const names = sameEvents(events);
  return (event) => event !== null && names.includes(event);
}

/** Width of the longest event name in the specification. */
const nameWidth = 'request_succeeded'.length;
const idWidth = 4;
const orderWidth = 8;
const stateWidth = '● in progress'.length;
const arrow = '  →  ';
const beforeWidth = stateWidth + arrow.length;
/** Width of the longest state of a single parcel. If there is less room, a terminal omits the earlier state. */
const minStateWidth = '✖ cancelled by retailer'.length;
/** Maximum length of a text. Nobody would read a longer text. */
const maxTextLength = 300;

/**
 * Formats events for a TTY as one line each, in fixed columns: number, time, event, order, and change of state.
 * Received text is untrusted.
 */
export class EventLines {
  readonly #log: EventLog;
  readonly #paint: Paint;
  readonly #measure: Measure;
  readonly #columns: () => number;
  /** The state that was last shown for each order. */
  readonly #states = new Map<string, ShownState>();

  private constructor(log: EventLog, paint: Paint, measure: Measure, columns: () => number) {
    this.#log = log;
    this.#paint = paint;
    this.#measure = measure;
    this.#columns = columns;
  }

  static async open({ io }: Pick<Context, 'io'>, log: EventLog): Promise<EventLines> {
    const columns = (): number => io.stdout.columns() || 80;
    return new EventLines(log, await paintFor(io.stdout.color), await fullMeasure(), columns);
  }

  /** Formats an event as wide as the terminal. Text that is too long is cut at the end. */
  line(event: ShownEvent): string {
    const { id, event: name, order_id: orderId, received_at: at, verified } = event;
    const order = orderId === null ? '-' : uuidPattern.test(orderId) ? orderId.slice(0, orderWidth) : orderId;
    const columns = this.#columns();
    const clock = at.slice(11, 19);
    const maxWidth = columns - orderWidth - 2;
    // A narrow terminal drops these parts, in this order: the number, the earlier state, the event name, the time. The
    // state is cut last.
    const shapes = [
      {
        when: `${String(id).padStart(idWidth)}  ${clock}Z  `,
        hasName: true,
        least: beforeWidth + minStateWidth,
      },
      { when: `${clock}  `, hasName: true, least: minStateWidth },
      { when: `${clock}  `, hasName: false, least: minStateWidth },
    ];
    const roomIn = ({ when, hasName }: Omit<(typeof shapes)[number], 'least'>): number =>
      maxWidth - when.length - (hasName ? nameWidth + 2 : 0);
    const shape = shapes.find((one) => roomIn(one) >= one.least) ?? { when: '', hasName: false };
    const what = shape.hasName ? `${this.#fit(name ?? '-', nameWidth)}  ` : '';
    const room = roomIn(shape);
    const rendered = verified === false ? this.#unverified(event, room) : this.#change(event, room);
    return `${this.#paint.faint(shape.when)}${what}${this.#fit(order, orderWidth)}  ${rendered}`.trimEnd();
  }

  #unverified(event: ShownEvent, room: number): string {
    const reported = stateOfEvent(event)?.text;
    const claim = reported === undefined ? '' : `it says "${reported}", `;
    return this.#state({ text: `not verified: ${claim}${event.message ?? ''}`, mood: 'bad' }, room);
  }

  #change(event: ShownEvent, room: number): string {
    const { order_id: orderId } = event;
    const to = stateOfEvent(event);
    if (!to || orderId === null) return to ? this.#state(to, room) : '';
    const from = this.#states.get(orderId) ?? this.#earlierState(event);
    // Clear the cache to limit its size. If a state is no longer cached, the log still has it.
    if (this.#states.size >= maxStates) this.#states.clear();
    this.#states.set(orderId, to);
    const left = room - beforeWidth;
    // A narrow terminal shows only the current state, not the earlier one.
    if (left < minStateWidth) return this.#state(to, room);
    return `${this.#before(from, to, event.event)}${this.#state(to, left)}`;
  }

  /**
   * Shows the state that the order had before. If the state did not change, shows the event name instead. For a new
   * order, shows nothing.
   */
  #before(from: ShownState | undefined, to: ShownState, happened: string | null): string {
    if (!from) return ' '.repeat(beforeWidth);
    if (from.text !== to.text) return `${this.#state(from, stateWidth, true)}${arrow}`;
    const word = (happened ?? '').replaceAll('_', ' ');
    return this.#paint.faint(`${this.#fit(word, beforeWidth - 1)} `);
  }

  /** The order's state as an earlier event reported it. */
  #earlierState({ id, order_id: orderId }: ShownEvent): ShownState | undefined {
    if (orderId === null || !uuidPattern.test(orderId)) return undefined;
    for (const earlier of this.#log.list({ orderId })) if (earlier.id < id) return stateOfEvent(earlier);
    return undefined;
  }

  #state({ text, mood }: ShownState, width: number, fills = false): string {
    const shown = cut(signed(safeText(text, maxTextLength), mood), width, this.#measure);
    return paintMood(mood, this.#paint)(fills ? pad(shown, width, 'left', this.#measure) : shown);
  }

  /** Fits text to exactly `width` columns. */
  #fit(text: string, width: number): string {
    return pad(cut(safeText(text, maxTextLength), width, this.#measure), width, 'left', this.#measure);
  }
}

const maxStates = 10_000;

/** Formats the received events for the requested output; exits with 0, 7 or 8, or 130 if interrupted. */
function listenResult(
  context: Context,
  given: AsyncGenerator<ListenRecord>,
  shown: Shown,
  log: EventLog,
): StreamResult | ListResult<ListenRecord> {
  let code = 0;
  const records = untilStopped(context, given);
  const exitCode = (): number => code;
  const printed = (): Promise<void> => shown.allOut();
  const { format } = context.output;
  if (format === 'ndjson') return { kind: 'list', rows: every(), columns: [], exitCode, printed };
  const onScreen = format === 'table' && context.io.stdout.isTerminal;
  if (format === 'table') return { kind: 'stream', chunks: lines(), isPainted: onScreen, exitCode };
  return { kind: 'list', rows: eventsOnly(), columns: eventColumns, exitCode, printed };

  async function* every() {
    for await (const record of records) {
      conclude(record);
      yield { ...record };
    }
  }

  async function* lines(): AsyncGenerator<string> {
    const screen = onScreen ? await EventLines.open(context, log) : undefined;
    for await (const record of records) {
      conclude(record);
      if (record.type === 'ready') yield `listening on ${safeText(record.url)}\n`;
      if (record.type === 'event') yield `${screen?.line(record) ?? eventLine(record)}\n`;
      report(context, record);
    }
  }

  async function* eventsOnly() {
    for await (const record of records) {
      conclude(record);
      if (record.type === 'ready') context.note(`listening on ${record.url}`);
      if (record.type === 'event') yield { ...record };
      report(context, record);
    }
  }

  function conclude(record: ListenRecord): void {
    if (record.type === 'summary') code = exitCodeOf(record);
  }
}

/**
 * Yields all records. After an interruption, first yields the summary. Then throws an error that names the command for
 * listing the stored events.
 */
async function* untilStopped(
  context: Context,
  records: AsyncGenerator<ListenRecord>,
): AsyncGenerator<ListenRecord> {
  yield* records;
  try {
    context.signal.throwIfAborted();
  } catch (error) {
    const command = `errand webhook events${whereFlags(context)}`;
    const next = { command, when: 'what was received is kept' };
    throw stoppedWith(error, context.signal, 'stopped listening', next);
  }
}

function exitCodeOf({ ended, failed }: ListenSummary): number {
  if (ended === 'timeout') return exitCodes.deadline;
  return failed > 0 ? exitCodes.ended_badly : 0;
}

/** Formats an event as one line: time, id, event, order, status, failure reason and notes. */
function eventLine(event: ShownEvent): string {
  const parts = [
    event.received_at,
    String(event.id),
    event.event ?? '-',
    event.order_id ?? '-',
    event.status ?? '-',
    event.error_type ?? '',
    event.verified === false ? `(not verified: ${event.message})` : '',
  ];
  return safeText(parts.filter((part) => part !== '').join('  '));
}

/** Prints records that are not events to stderr, for people. */
function report(context: Context, record: ListenRecord): void {
  if (record.type === 'gap') context.note(`warning: ${record.message}`);
  if (record.type === 'forward')
    context.note(
      record.delivered
        ? `event ${record.id} forwarded to ${record.url}`
        : `event ${record.id} was not forwarded: ${record.message}; errand webhook replay ${record.id}`,
    );
  if (record.type === 'exec' && record.exit_code !== 0)
    context.note(
      `the command for event ${record.id} failed: ${record.message ?? `exit ${record.exit_code}`}`,
    );
  if (record.type === 'summary') context.note(summaryLine(record));
}

const summaryLine = ({ received, stored, duplicates, forwarded, failed }: ListenSummary): string =>
  `${received} received, ${stored} new, ${duplicates} ${duplicates === 1 ? 'duplicate' : 'duplicates'}, ${forwarded} forwarded, ${failed} failed`;

/**
 * Keeps track of which events were shown. If this process ends before it has written an event, the next listener shows
 * that event.
 */
class Shown {
  readonly #context: Pick<Context, 'io' | 'output'>;
  readonly #log: EventLog;
  readonly #held: number[] = [];

  constructor(context: Pick<Context, 'io' | 'output'>, log: EventLog) {
    this.#context = context;
    this.#log = log;
  }

  /** Notes that an event was handed to the output. With --query, the output writes nothing until all events are in. */
  async handedOut(id: number): Promise<void> {
    if (this.#context.output.query !== undefined) this.#held.push(id);
    else await this.#noteOnceOut([id]);
  }

  /** Must be called once all events passed to `handedOut` have been written. */
  allOut(): Promise<void> {
    return this.#noteOnceOut(this.#held.splice(0));
  }

  async #noteOnceOut(ids: readonly number[]): Promise<void> {
    const out = writerOf(this.#context.io.stdout.stream);
    await out.flush();
    // The reader closed the pipe.
    if (out.isClosed) return;
    for (const id of ids) await this.#log.noteShown(id);
  }
}
