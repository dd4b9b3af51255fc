import { drawFaults, drawRefusals, type Reply, replyTo } from '../server/fault-injection.ts';
import { halfOf, type SandboxRequest, type SandboxResponse } from '../server/wire.ts';
import { RunTime } from '../store/run-time.ts';
import type { Store } from '../store/store.ts';
import { settingsIn } from './faults.ts';

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
