import { Random } from '../faults/random.ts';

/** Something that happens at a time. */
interface Event {
  readonly at: number;
  /** What it belongs to; an event of an owner that has ended is dropped. */
  readonly owner: Owner | undefined;
  /** Whether its owner waits for it before it ends. */
  readonly isAwaited: boolean;
  readonly run: () => void;
}

/** What events belong to, such as a process. */
export interface Owner {
  readonly isOver: boolean;
  /** Called with what an event throws. */
  failed(error: unknown): void;
}

/** An event that may still be called off. */
export interface Planned {
  cancel(): void;
}

/**
 * Virtual time, and the order of everything that happens in it, which the seed alone decides. Time passes only when
 * nothing is left to do now.
 */
export class World {
  readonly clock: { now: number };
  readonly random: Random;
  readonly #events = new Set<Event>();
  /** Events that have happened. */
  steps = 0;
  /** A number that differs if anything happened in another order, or at another time. */
  trace = 0;

  constructor(seed: number, startMs: number) {
    this.random = new Random(seed);
    this.clock = { now: startMs };
  }

  /** Plans an event, ms from now. */
  plan(
    ms: number,
    run: () => void,
    { owner, isAwaited = true }: { readonly owner?: Owner | undefined; readonly isAwaited?: boolean } = {},
  ): Planned {
    const event: Event = { at: this.clock.now + Math.max(0, ms), owner, isAwaited, run };
    this.#events.add(event);
    return { cancel: () => void this.#events.delete(event) };
  }

  /** Whether something is planned that an owner waits for. */
  hasWork(owner: Owner): boolean {
    for (const event of this.#events) if (event.owner === owner && event.isAwaited) return true;
    return false;
  }

  /**
   * Lets things happen until a promise settles. @param onIdle is called where nothing is left to happen; false if it
   * could bring nothing about.
   */
  async until<T>(promise: Promise<T>, onIdle: () => boolean): Promise<T> {
    let isSettled = false;
    const done = (): void => {
      isSettled = true;
    };
    promise.then(done, done);
    for (let idleTurns = 0; !isSettled; ) {
      await turn();
      if (isSettled) break;
      const next = this.#next();
      if (next) {
        idleTurns = 0;
        this.#happen(next);
        this.afterEach();
      } else if (idleTurns < maxIdleTurns) idleTurns += 1;
      else if (onIdle()) idleTurns = 0;
      else throw new Error('nothing is left to happen');
    }
    return promise;
  }

  /** Called after each event. */
  afterEach: () => void = () => {};

  /** Draws one of the events that are due first. */
  #next(): Event | undefined {
    const due: Event[] = [];
    let at = Number.POSITIVE_INFINITY;
    for (const event of this.#events) {
      if (event.owner?.isOver) {
        this.#events.delete(event);
        continue;
      }
      // What was due before has waited as long as what is due now.
      const when = Math.max(event.at, this.clock.now);
      if (when < at) {
        at = when;
        due.length = 0;
      }
      if (when === at) due.push(event);
    }
    if (due.length === 0) return undefined;
    this.clock.now = at;
    return due.length === 1 ? due[0] : this.random.pick(due);
  }

  #happen(event: Event): void {
    this.#events.delete(event);
    this.steps += 1;
    this.note(this.clock.now);
    try {
      event.run();
    } catch (error) {
      if (!event.owner) throw error;
      event.owner.failed(error);
    }
  }

  /** Adds a fact to the trace. */
  note(fact: number | string): void {
    const text = String(fact);
    for (let at = 0; at < text.length; at += 1)
      this.trace = (Math.imul(this.trace, 31) + text.charCodeAt(at)) >>> 0;
  }
}

/** Turns of Node's own loop in which nothing has to happen before nothing will. */
const maxIdleTurns = Number(process.env.IDLE ?? 20);

/** Lets promises and Node's own streams do what they have to do now. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
