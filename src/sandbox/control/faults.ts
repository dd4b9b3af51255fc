import { randomUUID } from 'node:crypto';
import { type Draw, drawFaults, drawRefusals, replyTo } from '../server/fault-injection.ts';
import { type Fault, readFault } from '../server/faults.ts';
import type { FaultHits } from '../server/service.ts';
import type { Reply } from '../server/wire.ts';
import { halfOf, type SandboxRequest, type SandboxResponse } from '../server/wire.ts';
import { RunTime, readStoredFaults, type StoredFaults } from '../store/run-time.ts';
import type { Store } from '../store/store.ts';

/** Faults and the seed of their random draws. */
export interface FaultSettings {
  readonly faults: readonly Fault[];
  readonly seed: number;
}

interface Drawing extends FaultSettings {
  /** The stored setting from which these faults were derived. */
  readonly text: string | undefined;
  readonly draw: Draw;
  readonly isRefused: () => boolean;
  /** Connections for which the draw has already been made. */
  readonly letIn: WeakSet<object>;
}

/**
 * The active faults of a sandbox. The faults given at startup are active until a change replaces them. The last change
 * applies to every process on the store, and restarts the draws.
 */
export class SandboxFaults {
  readonly #store: Store;
  readonly #runTime: RunTime;
  readonly #started: FaultSettings;
  /** The stored setting when the process started. */
  readonly #before: string | undefined;
  #drawing: Drawing | undefined;
  /** Counts of each fault, keyed by the text of the fault. */
  readonly #hits = new Map<string, FaultHits>();

  constructor(store: Store, started: FaultSettings) {
    this.#store = store;
    this.#runTime = new RunTime(store);
    this.#started = started;
    this.#before = this.#runTime.faultsText;
  }

  /** The active faults. */
  get now(): StoredFaults & { readonly hits: Readonly<Record<string, FaultHits>> } {
    const { faults, seed } = this.#current;
    return { faults: faults.map(({ text }) => text), seed, hits: Object.fromEntries(this.#hits) };
  }

  /**
   * Replaces the active faults. The replacement is atomic, even if several processes change faults. @param change
   * returns the new faults, or throws to reject the change.
   */
  async change(change: (now: StoredFaults) => StoredFaults): Promise<void> {
    await this.#store.transaction(() => this.#runTime.setFaults(change(this.now), randomUUID()));
  }

  readonly draw: Draw = (request) => this.#current.draw(request);

  /**
   * Whether to drop a connection. Draws once per connection until the faults change. @param connection defaults to a
   * new connection.
   */
  readonly isRefused = (connection: object = {}): boolean => {
    const { letIn, isRefused } = this.#current;
    if (letIn.has(connection)) return false;
    letIn.add(connection);
    return isRefused();
  };

  get #current(): Drawing {
    const text = this.#runTime.faultsText;
    if (!this.#drawing || this.#drawing.text !== text) {
      const settings = this.#settingsOf(text);
      this.#hits.clear();
      const { faults, seed } = settings;
      this.#drawing = {
        ...settings,
        text,
        draw: drawFaults(faults, seed, (fault, isHit) => this.#count(fault, isHit)),
        isRefused: drawRefusals(faults, seed),
        letIn: new WeakSet(),
      };
    }
    return this.#drawing;
  }

  #count({ text }: Fault, isHit: boolean): void {
    const counted = this.#hits.get(text) ?? { requests: 0, hits: 0 };
    counted.requests += 1;
    if (isHit) counted.hits += 1;
    this.#hits.set(text, counted);
  }

  #settingsOf(text: string | undefined): FaultSettings {
    const isOlder = text === this.#before && this.#started.faults.length > 0;
    return text === undefined || isOlder ? this.#started : settingsIn(text);
  }
}

/** Parses stored faults. Skips faults that a later version stored and that this version does not know. */
export function settingsIn(text: string): FaultSettings {
  const { faults, seed } = readStoredFaults(text);
  return {
    faults: faults.flatMap((fault) => readFault(fault) ?? []),
    seed,
  };
}

interface Faulty {
  readonly store: Store;
  /** The faults, in the format of the store. */
  readonly text: string;
  /** Aborts an injected delay. */
  readonly signal: AbortSignal;
}

/**
 * Applies faults to an in-process request, the same way as over a socket. Each process sends only a request or two, so
 * the draw counter lives in the store and continues across processes. A `half` reply contains half of the body.
 */
export async function replyWithFaults(
  { store, text, signal }: Faulty,
  request: Pick<SandboxRequest, 'method' | 'target' | 'headers'>,
  work: () => Promise<SandboxResponse>,
): Promise<Reply> {
  const { faults, seed } = settingsIn(text);
  const number = await new RunTime(store).nextDraw();
  const draw = `${seed} ${number}`;
  if (drawRefusals(faults, draw)()) return { kind: 'reset' };
  const drawn = drawFaults(faults, draw)(request);
  const reply = await replyTo({ target: request.target, drawn, logged: { done: () => {} }, signal }, work);
  if (reply.kind !== 'half') return reply;
  const { half } = await halfOf(reply.response.body);
  return { kind: 'half', response: { ...reply.response, body: half } };
}
