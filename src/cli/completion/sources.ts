import { join } from 'node:path';
import { stateWords } from '../../api/state-words.ts';
import { type Environment, foldersOf, isRelative } from '../../config/paths.ts';
import { peekSettings, type SettingsPeek } from '../../config/peek.ts';
import type { Settings } from '../../config/resolve.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { type JournalPlace, journalFolder } from '../../journal/journal-tables.ts';
import { peekApprovals, peekEvents, peekInDoubt, peekMade, peekUploads } from '../../journal/peek.ts';
import { openReader } from '../../platform/sqlite/load.ts';
import type { RecordSource, SourceName } from '../../run/option.ts';
import { type Kind, type OrderChoice, peekRetailers, peekSandbox } from '../../sandbox/peek.ts';
import type { CandidateLookup, Cursor } from './complete.ts';
import type { Candidate } from './tree.ts';

/** The local state that lookups use. */
export interface Known {
  readonly settings: Pick<SettingsPeek, 'service'>;
  readonly stateDir: string;
}

/** Maximum number of records offered, newest first. Nobody picks from a longer list. */
const limit = 100;

interface Sought {
  /** Prefix of the ids. */
  readonly prefix: string;
  /** Maximum number of records to return, newest first; -1 for all records. */
  readonly limit: number;
}

type Source<K extends Known = Known> = (known: K, sought: Sought) => Promise<readonly Candidate[]>;

/** Operations that create records, by kind of record. */
const makers: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  orders: ['order.create', 'agent.order.create', 'legacy.retry'],
  batches: ['bulk.create'],
  returns: ['return.create'],
};

/**
 * Source of records. For the embedded sandbox, it has all records. For any other service, only the records made on this
 * machine are known.
 */
const records =
  (kind: Kind, status?: OrderChoice): Source =>
  async (known, sought) => {
    const { service } = known.settings;
    if (service?.baseUrl !== embeddedUrl) {
      const operations = makers[kind] ?? [];
      if (!service || operations.length === 0) return [];
      return peekMade(known.stateDir, service.baseUrl, { ...sought, operations })
        .filter(({ id }) => id.startsWith(sought.prefix))
        .map(({ id, createdAt }) => ({ value: id, text: `placed ${createdAt.slice(0, 16)}Z` }));
    }
    if (service.apiKey === undefined) return [];
    const { apiKey } = service;
    const found = peekSandbox(openReader, known.stateDir, apiKey, kind, { ...sought, status });
    return found.map(({ id, text, order }) => ({
      value: id,
      text: order ? `${stateText(order)}  ${order.title ?? order.url}` : text,
    }));
  };

/** State of an order as lists show it. */
function stateText({
  status,
  parcel,
}: {
  readonly status: string;
  readonly parcel: string | undefined;
}): string {
  const words: readonly (readonly [string, object])[] = Object.entries(stateWords);
  const named = (value: string | undefined): string | undefined =>
    words.find(([, filter]) => Object.values(filter).includes(value))?.[0];
  return ((status === 'order_placed' && named(parcel)) || named(status) || status).replaceAll('-', ' ');
}

const named = (names: ReadonlyMap<string, string>): readonly Candidate[] =>
  [...names].map(([value, text]) => ({ value, text }));

/** Records that are addressed by an id or by the start of an id. */
const recordSources = {
  orders: records('orders'),
  accounts: records('accounts'),
  batches: records('batches'),
  returns: records('returns'),
  approvals: async ({ stateDir }, { limit: max }) =>
    peekApprovals(stateDir, max).map(({ id, text }) => ({ value: id, text })),
  intents: async ({ settings: { service }, stateDir }, { limit: max }) =>
    service
      ? peekInDoubt(stateDir, service.baseUrl, max).map(({ id, createdAt }) => ({
          value: id,
          text: `in doubt since ${createdAt.slice(0, 16)}Z`,
        }))
      : [],
} as const satisfies Readonly<Record<RecordSource, Source>>;

/** Known records of a kind whose id starts with a prefix; empty if they cannot be read. */
export async function recordsWithPrefix(
  kind: RecordSource,
  prefix: string,
  known: Known,
): Promise<readonly Candidate[]> {
  try {
    const found = await recordSources[kind](known, { prefix, limit: -1 });
    return found.filter(({ value }) => value.startsWith(prefix));
  } catch {
    return [];
  }
}

const uploads: Source<KnownToAll> = async ({ stateDir, settings: { service } }, { limit: max }) =>
  service === undefined
    ? []
    : peekUploads(stateDir, service.baseUrl, max).map(({ id, text }) => ({ value: id, text }));

/** Whether a text is an upload name on this machine, even if it looks like an id prefix. */
export function isUpload(settings: Pick<Settings, 'baseUrl'> & JournalPlace, text: string): boolean {
  try {
    return peekUploads(journalFolder(settings), settings.baseUrl.value, -1).some(({ id }) => id === text);
  } catch {
    return false;
  }
}

interface KnownToAll extends Known {
  readonly settings: SettingsPeek;
  readonly configDir: string;
}

const sources: Readonly<Record<SourceName, Source<KnownToAll>>> = {
  ...recordSources,
  // Offer uploads wherever a batch is expected, because their names are shorter to type.
  batches: async (known, sought) => [
    ...(await ifAny(uploads, known, sought)),
    ...(await recordSources.batches(known, sought)),
  ],
  cancellable: records('orders', 'pending'),
  returnable: records('orders', 'order_placed'),
  uploads,
  profiles: async ({ settings }) => named(settings.profiles),
  keys: async ({ settings }) => named(settings.keys),
  addresses: async ({ settings }) => named(settings.addresses),
  maps: async ({ settings }) => {
    const { mapPresets } = await import('../../config/maps.ts');
    const presets = [...mapPresets].map(([name, { description }]) => [name, description] as const);
    return named(new Map([...presets, ...settings.maps]));
  },
  standing: async ({ configDir }) => {
    const { peekNames } = await import('../../standing/peek.ts');
    return (await peekNames(configDir)).map((value) => ({ value, text: '' }));
  },
  events: async ({ stateDir }, { limit: max }) =>
    peekEvents(stateDir, max).map(({ id, text }) => ({ value: id, text })),
  retailers: async ({ settings }) => {
    if (settings.service?.baseUrl !== embeddedUrl) return [];
    return (await peekRetailers()).map(({ id, text }) => ({ value: id, text }));
  },
};

/** Candidates from a file that may not exist yet. */
const ifAny = async (source: Source<KnownToAll>, known: KnownToAll, sought: Sought) =>
  source(known, sought).catch(() => []);

/** Looks up values in this machine's files; empty if they cannot be read. */
export function candidateLookup(environment: Environment, platform: NodeJS.Platform): CandidateLookup {
  return async ({ from }, cursor) => {
    const { ERRAND_CONFIG_DIR, ERRAND_STATE_DIR } = environment;
    if (!from || isRelative(ERRAND_CONFIG_DIR) || isRelative(ERRAND_STATE_DIR)) return [];
    try {
      const { config, state } = foldersOf(environment, platform);
      const given = { profile: chosenValue(cursor, '--profile'), baseUrl: chosenValue(cursor, '--base-url') };
      const settings = peekSettings(join(config, 'config.json'), environment, given);
      return await sources[from]({ settings, stateDir: state, configDir: config }, { prefix: '', limit });
    } catch {
      return [];
    }
  };
}

/** Value of a global flag, wherever it is on the line. */
const chosenValue = ({ root, chosen }: Cursor, flag: string): string | undefined => {
  const option = root.options?.find(({ flags }) => flags.includes(flag));
  return option && chosen.get(option);
};
