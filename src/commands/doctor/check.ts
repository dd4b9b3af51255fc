import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

/** `info` is neither good nor bad; `skipped` could not be looked at, because of another finding. */
type Status = 'ok' | 'trouble' | 'skipped' | 'info';

export interface Finding {
  readonly status: Status;
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string | undefined;
}

/** The description that the service gives of itself: one request, which several checks look at. */
export type Probe =
  | {
      readonly reached: true;
      readonly tookMs: number;
      /** When its response came, ms since the epoch. */
      readonly at: number;
      /** The header `date`, where the service sent one. */
      readonly date: string | undefined;
      /** `info.version`, where the response was the description. */
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
export const trouble = (message: string, remedy: string | undefined): Finding => ({
  status: 'trouble',
  message,
  remedy,
});

/** A failure as a finding, with the remedy that it names itself. */
export function troubleOf(error: unknown, remedy?: string): Finding {
  const message = error instanceof Error ? error.message : String(error);
  const facts = error instanceof ErrandError ? error.facts : {};
  return trouble(message, remedy ?? facts.hint ?? facts.next?.[0]?.command);
}
