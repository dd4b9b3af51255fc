import { uuidPattern } from '../../api/limits.ts';
import type { ShownState } from '../../api/order-state.ts';
import { type Paint, paintFor, paintMood } from '../../cli/output/paint.ts';
import { signed } from '../../format/mood.ts';
import { cut, fullMeasure, type Measure, pad } from '../../format/width.ts';
import type { ShownEvent } from '../../integrations/webhooks/listen.ts';
import type { EventLog } from '../../journal/events.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { Context } from '../../run/context.ts';
import { stateOfEvent } from './columns.ts';

/** The longest name of an event in the specification. */
const nameWidth = 'request_succeeded'.length;
const idWidth = 4;
const orderWidth = 8;
const stateWidth = '● in progress'.length;
const arrow = '  →  ';
const beforeWidth = stateWidth + arrow.length;
/** The longest state of one parcel; where it does not fit, a terminal shows less of how it came about. */
const leastState = '✖ cancelled by retailer'.length;
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
    const clock = at.slice(11, 19);
    const most = columns - orderWidth - 2;
    // The state is cut last: first the number gives way, then where it came from, the event's name, the time.
    const shapes = [
      {
        when: `${String(id).padStart(idWidth)}  ${clock}Z  `,
        hasName: true,
        least: beforeWidth + leastState,
      },
      { when: `${clock}  `, hasName: true, least: leastState },
      { when: `${clock}  `, hasName: false, least: leastState },
    ];
    const roomIn = ({ when, hasName }: Omit<(typeof shapes)[number], 'least'>): number =>
      most - when.length - (hasName ? nameWidth + 2 : 0);
    const shape = shapes.find((one) => roomIn(one) >= one.least) ?? { when: '', hasName: false };
    const what = shape.hasName ? `${this.#fit(name ?? '-', nameWidth)}  ` : '';
    const room = roomIn(shape);
    const told = verified === false ? this.#unverified(event, room) : this.#change(event, room);
    return `${this.#paint.faint(shape.when)}${what}${this.#fit(order, orderWidth)}  ${told}`.trimEnd();
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
    const from = this.#states.get(orderId) ?? this.#saidBefore(event);
    // Many orders pass by; the oldest are looked up again.
    if (this.#states.size >= mostStates) this.#states.clear();
    this.#states.set(orderId, to);
    const left = room - beforeWidth;
    // A narrow terminal shows where an order stands, and not where it came from.
    if (left < leastState) return this.#state(to, room);
    return `${this.#before(from, to, event.event)}${this.#state(to, left)}`;
  }

  /** Where an order came from; where its state is the same, what happened; of one that is new, nothing. */
  #before(from: ShownState | undefined, to: ShownState, happened: string | null): string {
    if (!from) return ' '.repeat(beforeWidth);
    if (from.text !== to.text) return `${this.#state(from, stateWidth, true)}${arrow}`;
    const word = (happened ?? '').replaceAll('_', ' ');
    return this.#paint.faint(`${this.#fit(word, beforeWidth - 1)} `);
  }

  /** What an earlier event said of the same order. */
  #saidBefore({ id, order_id: orderId }: ShownEvent): ShownState | undefined {
    if (orderId === null || !uuidPattern.test(orderId)) return undefined;
    for (const earlier of this.#log.list({ orderId })) if (earlier.id < id) return stateOfEvent(earlier);
    return undefined;
  }

  #state({ text, mood }: ShownState, width: number, fills = false): string {
    const shown = cut(signed(safeText(text, longest), mood), width, this.#measure);
    return paintMood(mood, this.#paint)(fills ? pad(shown, width, 'left', this.#measure) : shown);
  }

  /** A text in exactly `width` columns. */
  #fit(text: string, width: number): string {
    return pad(cut(safeText(text, longest), width, this.#measure), width, 'left', this.#measure);
  }
}

const mostStates = 10_000;
