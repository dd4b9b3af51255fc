import { originOfProgram, ownEnvironment } from '../../config/actor.ts';
import { fingerprint, keyMode, maskKey } from '../../config/keys.ts';
import { macUnder } from '../../journal/mac.ts';
import { orderKeys } from '../../orders/order-keys.ts';
import { systemClock } from '../../platform/clock.ts';
import { UsageError } from '../../platform/errors.ts';
import type { OrderContext, OrderSettings } from '../../run/order-context.ts';
import type { ClientParts } from './client-parts.ts';
import { isInProcess } from './in-process-services.ts';
import type { JournalParts } from './journal-parts.ts';

interface Placing {
  readonly client: ClientParts;
  readonly journal: JournalParts;
  /** Intents of the call that are not settled yet. */
  readonly unreported: OrderContext['unreported'];
  readonly signal: AbortSignal | undefined;
  note(line: string): void;
}

/** The context in which the library places orders. It has no argv, no settings file and no prompts. */
export function placingContext({ client, journal: parts, unreported, signal, note }: Placing): OrderContext {
  const { baseUrl, apiKey, serviceClock } = client;
  const { journal } = parts;
  const settings = placingSettings({ ...parts, baseUrl });
  const opened = async () => journal;
  const http = client.under(signal, orderKeys({ settings: { ...settings, apiKey }, journal: opened }));
  const sender = { keyMasked: maskKey(apiKey), account: fingerprint(apiKey, baseUrl), mac: macUnder(apiKey) };
  journal.signers.add(sender);
  return {
    argv: undefined,
    clock: systemClock,
    serviceClock,
    signal: signal ?? new AbortController().signal,
    settings,
    environment: ownEnvironment(),
    interactive: nobodyAsks,
    previewsRequests: false,
    previewsReads: false,
    client: async () => http,
    journal: opened,
    origin: async () => originOfProgram(parts.program, 'errand/safely'),
    unreported,
    isRehearsal: () => keyMode(apiKey) === 'test',
    sender: async () => sender,
    profilesAt: async () => [],
    confirm: async () => false,
    askText: () => Promise.reject(nobody()),
    readInput: () => Promise.reject(nobody()),
    note,
  };
}

export const nobodyAsks = { yes: false, why: 'a program asks' } as const;

const nobody = (): UsageError => new UsageError('a program has nobody to ask, and no stdin to read');

/** The settings of a command that are needed to place an order. */
export function placingSettings({
  folder,
  policy,
  policySigner,
  program,
  baseUrl,
  database,
}: {
  readonly folder: string;
  readonly policy: string | undefined;
  readonly policySigner: string | undefined;
  readonly program: string;
  readonly baseUrl: string;
  readonly database: OrderSettings['database'];
}): OrderSettings {
  // Suggested commands include the base URL as a flag, so that they reach the same service.
  const service = { value: baseUrl, from: 'flag', name: 'baseUrl' } as const;
  return {
    profile: { value: program, from: 'default', name: 'program' },
    baseUrl: service,
    legacyBaseUrl: service,
    policy: policy === undefined ? undefined : { value: policy, from: 'flag', name: 'openJournal' },
    policySigner:
      policySigner === undefined ? undefined : { value: policySigner, from: 'flag', name: 'policySigner' },
    // Allow the same order many times in a sandbox of this process, because a test may place it repeatedly.
    duplicateWindowMs: {
      value: isInProcess(baseUrl) ? 0 : undefined,
      from: 'default',
      name: 'duplicate-window',
    },
    folders: { state: folder },
    database,
  };
}
