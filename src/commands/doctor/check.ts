import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

/** `info` is neutral; `skipped` means that another finding made the check impossible. */
type Status = 'ok' | 'trouble' | 'skipped' | 'info';

export interface Finding {
  readonly status: Status;
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string | undefined;
}

/** Result of a single request for the service's description. Several checks use it. */
export type Probe =
  | {
      readonly reached: true;
      readonly durationMs: number;
      /** When the response arrived, in ms since the epoch. */
      readonly at: number;
      /** The `date` header, if sent. */
      readonly date: string | undefined;
      /** The description's `info.version`. Undefined if the response was not the description. */
      readonly version: string | undefined;
    }
  | { readonly reached: false; readonly message: string; readonly remedy: string | undefined };

export interface Ground {
  readonly context: Context;
  probe(): Promise<Probe>;
}

export interface Check {
  readonly name: string;
  run(ground: Ground): Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>;
}

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const info = (message: string): Finding => ({ status: 'info', message });
export const skipped = (message: string): Finding => ({ status: 'skipped', message });
export const problem = (message: string, remedy: string | undefined): Finding => ({
  status: 'trouble',
  message,
  remedy,
});

/** Converts a failure to a finding. The remedy defaults to the one that the error suggests. */
export function problemOf(error: unknown, remedy?: string): Finding {
  const message = error instanceof Error ? error.message : String(error);
  const facts = error instanceof ErrandError ? error.facts : {};
  return problem(message, remedy ?? facts.hint ?? facts.next?.[0]?.command);
}
