import type { SandboxConfig } from '../../../src/sandbox/config.ts';
import type { Fault } from '../../../src/sandbox/server/faults.ts';
import type { TestService } from '../../support/service.ts';

/** Proves over real HTTP that a row of the specification holds. */
export interface Proof {
  /** What the proof demonstrates, as a sentence. */
  readonly shows: string;
  readonly prove: (it: TestService) => Promise<void>;
  /** Options to start the service with. */
  readonly start: { readonly config?: Partial<SandboxConfig>; readonly faults?: readonly Fault[] };
}

/** Rows of one table of the specification: id and text. */
export type Rows = Readonly<Record<string, string>>;

/** Exactly one proof per row. */
export type ProofsOf<R extends Rows> = Readonly<Record<keyof R, Proof>>;

export const proof = (shows: string, prove: Proof['prove'], start: Proof['start'] = {}): Proof => ({
  shows,
  prove,
  start,
});
