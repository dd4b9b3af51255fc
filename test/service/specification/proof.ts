import type { SandboxConfig } from '../../../src/sandbox/config.ts';
import type { Fault } from '../../../src/sandbox/server/faults.ts';
import type { TestService } from '../service.ts';

/** How a row of the specification is shown to hold, over real HTTP. */
export interface Proof {
  /** What the test shows, as a sentence. */
  readonly shows: string;
  readonly prove: (it: TestService) => Promise<void>;
  /** What the service of this proof is started with. */
  readonly start: { readonly config?: Partial<SandboxConfig>; readonly faults?: readonly Fault[] };
}

/** Rows of one table of the specification: id, and what it says. */
export type Rows = Readonly<Record<string, string>>;

/** One proof for each row, none missing and none over. */
export type ProofsOf<R extends Rows> = Readonly<Record<keyof R, Proof>>;

export const proof = (shows: string, prove: Proof['prove'], start: Proof['start'] = {}): Proof => ({
  shows,
  prove,
  start,
});
