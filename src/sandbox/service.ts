import type { Catalogue } from './catalogue/catalogue.ts';
import type { SandboxConfig } from './config.ts';
import type { Control } from './control/control.ts';
import type { Pace } from './control/pace.ts';
import type { Patience } from './control/patience.ts';
import type { RequestLog } from './server/request-log.ts';
import type { SandboxClock } from './store/clock.ts';
import type { Identity } from './store/identity.ts';
import type { Sealer } from './store/secrets.ts';
import type { Store } from './store/store.ts';

/** What every handler may touch. */
export interface Service {
  readonly store: Store;
  readonly clock: SandboxClock;
  readonly config: SandboxConfig;
  readonly identity: Identity;
  /** Opened when it is first needed. */
  catalogue(): Promise<Catalogue>;
  /** Seals secrets at rest; its key is read or made when it is first needed. */
  sealer(): Promise<Sealer>;
  /** What is done to the sandbox as a whole; loaded when it is first needed. */
  control(): Promise<Control>;
  /** Sends the webhooks that are due, without waiting for them. */
  deliver(): void;
  /** Who works first. */
  readonly pace: Pace;
  readonly patience: Patience;
  /** The requests to a sandbox that is being served. */
  readonly requests?: RequestLog;
  /** Receives a bug. */
  report(error: unknown): void;
}
