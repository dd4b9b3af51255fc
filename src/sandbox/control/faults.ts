import { randomUUID } from 'node:crypto';
import { type Draw, drawFaults, drawRefusals, type Reply, replyTo } from '../server/fault-injection.ts';
import { type Fault, readFault } from '../server/faults.ts';
import { halfOf, type SandboxRequest, type SandboxResponse } from '../server/wire.ts';
import { type KeptFaults, RunTime, readKeptFaults } from '../store/run-time.ts';
import type { Store } from '../store/store.ts';

/** Faults and the seed that their draws follow from. */
export interface FaultSettings {
  readonly faults: readonly Fault[];
  readonly seed: number;
}

interface Drawing extends FaultSettings {
  /** What was kept with the store when these began. */
  readonly text: string | undefined;
  readonly draw: Draw;
  readonly isRefused: () => boolean;
  /** Connections that were drawn for, and let in. */
  readonly letIn: WeakSet<object>;
}

/**
 * The faults of a sandbox: those that its process was started with, until others are switched on or off. What was said
 * last holds, in every process on the store; each change begins the draws anew.
 */
export class SandboxFaults {
  readonly #store: Store;
  readonly #runTime: RunTime;
  readonly #started: FaultSettings;
  /** What was kept with the store before this process began. */
  readonly #before: string | undefined;
  #drawing: Drawing | undefined;

  constructor(store: Store, started: FaultSettings) {
    this.#store = store;
    this.#runTime = new RunTime(store);
    this.#started = started;
    this.#before = this.#runTime.faultsText;
  }

  /** What is on now. */
  get now(): KeptFaults {
    const { faults, seed } = this.#current;
    return { faults: faults.map(({ text }) => text), seed };
  }

  /** Puts others in place of those that are on, which no other process changes meanwhile. @param change throws what refuses it. */
  async change(change: (now: KeptFaults) => KeptFaults): Promise<void> {
    await this.#store.transaction(() => this.#runTime.setFaults(change(this.now), randomUUID()));
  }

  readonly draw: Draw = (request) => this.#current.draw(request);

  /** Whether a connection is dropped, drawn once for each under the same faults. @param connection without it a new one. */
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
      const { faults, seed } = settings;
      this.#drawing = {
        ...settings,
        text,
        draw: drawFaults(faults, seed),
        isRefused: drawRefusals(faults, seed),
        letIn: new WeakSet(),
      };
    }
    return this.#drawing;
  }

  #settingsOf(text: string | undefined): FaultSettings {
    const isOlder = text === this.#before && this.#started.faults.length > 0;
    return text === undefined || isOlder ? this.#started : settingsIn(text);
  }
}

/** The faults of a text that a store keeps; those of a later version, which this one cannot read, are left out. */
export function settingsIn(text: string): FaultSettings {
  const { faults, seed } = readKeptFaults(text);
  return {
    faults: faults.flatMap((fault) => readFault(fault) ?? []),
    seed,
  };
}

interface Faulty {
  readonly store: Store;
  /** The faults, as the store keeps them. */
  readonly text: string;
  /** Ends a delay. */
  readonly signal: AbortSignal;
}

/**
 * What a request gets under faults that were switched on: as over a socket, without one. Each process sends a request or
 * two and ends, so the draws are counted in the store. Of a half response the body is that half.
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
  const reply = await replyTo({ target: request.target, drawn, noted: { done: () => {} }, signal }, work);
  if (reply.kind !== 'half') return reply;
  const { half } = await halfOf(reply.response.body);
  return { kind: 'half', response: { ...reply.response, body: half } };
}
