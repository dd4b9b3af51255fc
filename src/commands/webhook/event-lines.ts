import type { Context } from '../../context.ts';
import { uuidPattern } from '../../contract/limits.ts';
import type { ShownState } from '../../contract/order-state.ts';
import { type Paint, paintFor, paintMood, signed } from '../../output/paint.ts';
import { safeText } from '../../output/safe-text.ts';
import { cut, fullMeasure, type Measure } from '../../output/width.ts';
import type { EventLog } from '../../state/events.ts';
import type { ShownEvent } from '../../webhooks/listen.ts';
import { stateOfEvent } from './columns.ts';

/** The longest name of an event in the specification. */
const nameWidth = 'request_succeeded'.length;
const idWidth = 4;
const orderWidth = 8;
const stateWidth = '● in progress'.length;
const arrow = '  →  ';
/** A state needs so much room to be told from another; below, a terminal shows less of how it came about. */
const leastState = '✖ undeliverable'.length;
/** More of a text than this tells nobody anything. */
const longest = 300;

/**
 * Events on a terminal, a line each in columns that stand still: number, time, event, order, from which state to which. What
 * came is not trusted with anything but its text.
 */
export class EventLines {
  readonly #log: EventLog;
  readonly #paint: Paint;
  readonly #measure: Measure;
  readonly #columns: () => number;
  /** The last state of each order that was shown. */
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

  /** A line of at most as many columns as the terminal has: what is long is cut at its end. */
  line(event: ShownEvent): string {
    const { id, event: name, order_id: orderId, received_at: at, verified } = event;
    const order = orderId === null ? '-' : uuidPattern.test(orderId) ? orderId.slice(0, orderWidth) : orderId;
    const columns = this.#columns();
    const [when, what, which] = [
      `${String(id).padStart(idWidth)}  ${at.slice(11, 19)}Z  `,
      `${this.#fit(name ?? '-', nameWidth)}  `,
      `${this.#fit(order, orderWidth)}  `,
    ];
    const most = columns - when.length - which.length;
    const hasName = most - nameWidth - 2 >= leastState;
    const room = hasName ? most - nameWidth - 2 : most;
    const told = verified === false ? this.#unverified(event, room) : this.#change(event, room);
    return `${this.#paint.faint(when)}${hasName ? what : ''}${which}${told}`.trimEnd();
  }

  #unverified(event: ShownEvent, room: number): string {
    const said = stateOfEvent(event)?.text;
    const claim = said === undefined ? '' : `it says "${said}", `;
    return this.#state({ text: `not verified: ${claim}${event.message ?? ''}`, mood: 'bad' }, room);
  }

  #change(event: ShownEvent, room: number): string {
    const { order_id: orderId } = event;
    const to = stateOfEvent(event);
    if (!to || orderId === null) return to ? this.#state(to, room) : '';
    const from = this.#states.get(orderId) ?? this.#before(event);
    // Many orders pass by; the oldest are looked up again.
    if (this.#states.size >= mostStates) this.#states.clear();
    this.#states.set(orderId, to);
    const left = room - stateWidth - arrow.length;
    // A narrow terminal shows where an order stands, and not where it came from.
    if (left < leastState) return this.#state(to, room);
    if (from?.text === to.text) return `${' '.repeat(stateWidth + arrow.length)}${this.#state(to, left)}`;
    const before = from ? this.#state(from, stateWidth, true) : '-'.padEnd(stateWidth);
    return `${before}${arrow}${this.#state(to, left)}`;
  }

  /** What an earlier event said of the same order. */
  #before({ id, order_id: orderId }: ShownEvent): ShownState | undefined {
    if (orderId === null || !uuidPattern.test(orderId)) return undefined;
    for (const earlier of this.#log.list({ orderId })) if (earlier.id < id) return stateOfEvent(earlier);
    return undefined;
  }

  #state({ text, mood }: ShownState, width: number, fills = false): string {
    const shown = cut(signed(safeText(text, longest), mood), width, this.#measure);
    return paintMood(mood, this.#paint)(fills ? this.#fill(shown, width) : shown);
  }

  /** A text in exactly `width` columns. */
  #fit(text: string, width: number): string {
    return this.#fill(cut(safeText(text, longest), width, this.#measure), width);
  }

  #fill(text: string, width: number): string {
    return text + ' '.repeat(Math.max(0, width - this.#measure(text)));
  }
}

const mostStates = 10_000;
