import type { Context } from '../../context.ts';
import { uuidPattern } from '../../contract/limits.ts';
import type { ShownState } from '../../contract/order-state.ts';
import { type Paint, paintFor, paintMood, signed } from '../../output/paint.ts';
import { safeText } from '../../output/safe-text.ts';
import type { EventLog } from '../../state/events.ts';
import type { ShownEvent } from '../../webhooks/listen.ts';
import { stateOfEvent } from './columns.ts';

/** The longest name of an event in the specification. */
const nameWidth = 'request_succeeded'.length;
const idWidth = 4;
const orderWidth = 8;
const stateWidth = '● in progress'.length;
/** More of a name than this tells nobody anything. */
const longest = 100;

/**
 * Events on a terminal, a line each in columns that stand still: number, time, event, order, from which state to which. What
 * came is not trusted with anything but its text.
 */
export class EventLines {
  readonly #log: EventLog;
  readonly #paint: Paint;
  /** The last state of each order that was shown. */
  readonly #states = new Map<string, ShownState>();

  private constructor(log: EventLog, paint: Paint) {
    this.#log = log;
    this.#paint = paint;
  }

  static async open({ io }: Pick<Context, 'io'>, log: EventLog): Promise<EventLines> {
    return new EventLines(log, await paintFor(io.stdout.color));
  }

  line(event: ShownEvent): string {
    const { id, event: name, order_id: orderId, received_at: at, verified } = event;
    const order = orderId === null ? '-' : uuidPattern.test(orderId) ? orderId.slice(0, orderWidth) : orderId;
    const parts = [
      this.#paint.faint(`${String(id).padStart(idWidth)}  ${at.slice(11, 19)}Z`),
      safeText(name ?? '-', longest).padEnd(nameWidth),
      safeText(order, longest).padEnd(orderWidth),
      verified === false ? this.#unverified(event) : this.#change(event),
    ];
    return parts.join('  ').trimEnd();
  }

  #unverified(event: ShownEvent): string {
    const said = stateOfEvent(event)?.text;
    const claim = said === undefined ? '' : `it says "${said}", `;
    return this.#state({ text: `not verified: ${claim}${event.message ?? ''}`, mood: 'bad' });
  }

  #change(event: ShownEvent): string {
    const { order_id: orderId } = event;
    const to = stateOfEvent(event);
    if (!to || orderId === null) return to ? this.#state(to) : '';
    const from = this.#states.get(orderId) ?? this.#before(event);
    // Many orders pass by; the oldest are looked up again.
    if (this.#states.size >= mostStates) this.#states.clear();
    this.#states.set(orderId, to);
    if (from?.text === to.text) return this.#state(to);
    return `${from ? this.#state(from, stateWidth) : '-'.padEnd(stateWidth)}  →  ${this.#state(to)}`;
  }

  /** What an earlier event said of the same order. */
  #before({ id, order_id: orderId }: ShownEvent): ShownState | undefined {
    if (orderId === null || !uuidPattern.test(orderId)) return undefined;
    for (const earlier of this.#log.list({ orderId })) if (earlier.id < id) return stateOfEvent(earlier);
    return undefined;
  }

  #state({ text, mood }: ShownState, width = 0): string {
    return paintMood(mood, this.#paint)(signed(safeText(text, 300), mood).padEnd(width));
  }
}

const mostStates = 10_000;
