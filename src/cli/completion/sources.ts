import { join } from 'node:path';
import { type Kind, peekRetailers, peekSandbox } from '../../sandbox/peek.ts';
import { type Environment, resolveFolders } from '../../settings/paths.ts';
import { peekSettings, type SettingsPeek } from '../../settings/peek.ts';
import { embeddedUrl } from '../../settings/stored.ts';
import { openReader } from '../../sqlite/load.ts';
import { peekApprovals, peekEvents, peekJournal } from '../../state/peek.ts';
import type { LookUp } from './complete.ts';
import type { Cursor } from './cursor.ts';
import type { Candidate } from './tree.ts';

/** What this machine knows without asking anyone. */
export type SourceName =
  | Kind
  | 'profiles'
  | 'addresses'
  | 'retailers'
  | 'intents'
  | 'events'
  | 'maps'
  | 'approvals';

interface Known {
  readonly settings: SettingsPeek;
  readonly stateDir: string;
}

/** Of the newest; more than anyone picks from. */
const limit = 100;

type Source = (known: Known) => Promise<readonly Candidate[]>;

const sandboxed =
  (kind: Kind): Source =>
  async ({ settings: { service }, stateDir }) => {
    if (service?.baseUrl !== embeddedUrl || service.apiKey === undefined) return [];
    const found = await peekSandbox(openReader, stateDir, service.apiKey, kind, limit);
    return found.map(({ id, text }) => ({ value: id, text }));
  };

const intents = async ({ settings: { service }, stateDir }: Known) => {
  if (!service) return [];
  return peekJournal(stateDir, service.baseUrl, limit);
};

const named = (names: ReadonlyMap<string, string>): readonly Candidate[] =>
  [...names].map(([value, text]) => ({ value, text }));

/** The embedded sandbox knows its orders; of any other service this machine knows those that it placed. */
const orders: Source = async (known) => {
  if (known.settings.service?.baseUrl === embeddedUrl) return sandboxed('orders')(known);
  return (await intents(known)).flatMap(({ orderId, createdAt }) =>
    orderId === undefined ? [] : [{ value: orderId, text: `placed ${createdAt.slice(0, 16)}Z` }],
  );
};

const sources: Readonly<Record<SourceName, Source>> = {
  orders,
  accounts: sandboxed('accounts'),
  batches: sandboxed('batches'),
  returns: sandboxed('returns'),
  profiles: async ({ settings }) => named(settings.profiles),
  addresses: async ({ settings }) => named(settings.addresses),
  maps: async ({ settings }) => named(settings.maps),
  events: async ({ stateDir }) => peekEvents(stateDir, limit).map(({ id, text }) => ({ value: id, text })),
  approvals: async ({ stateDir }) =>
    peekApprovals(stateDir, limit).map(({ id, text }) => ({ value: id, text })),
  retailers: async ({ settings }) => {
    if (settings.service?.baseUrl !== embeddedUrl) return [];
    return peekRetailers().map(({ id, text }) => ({ value: id, text }));
  },
  intents: async (known) =>
    (await intents(known))
      .filter(({ state }) => state === 'intended')
      .map(({ key, createdAt }) => ({ value: key, text: `in doubt since ${createdAt.slice(0, 16)}Z` })),
};

/** Looks values up in files of this machine; what cannot be read has none. */
export function lookUpIn(environment: Environment, platform: NodeJS.Platform): LookUp {
  return async ({ from }, cursor) => {
    if (!from) return [];
    try {
      const { config, state } = resolveFolders(environment, platform);
      const given = { profile: chosenValue(cursor, '--profile'), baseUrl: chosenValue(cursor, '--base-url') };
      const settings = peekSettings(join(config, 'config.json'), environment, given);
      return await sources[from]({ settings, stateDir: state });
    } catch {
      return [];
    }
  };
}

/** What the line says of a setting, wherever on it the flag stands. */
const chosenValue = ({ root, chosen }: Cursor, flag: string): string | undefined => {
  const option = root.options?.find(({ flags }) => flags.includes(flag));
  return option && chosen.get(option);
};
