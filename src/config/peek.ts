import { lstatSync, readFileSync } from 'node:fs';
import { hasCredentials, hasQuery, httpUrl, plainBase } from '../platform/net/urls.ts';
import type { Environment } from './paths.ts';
import { embeddedUrl, localProfile } from './stored.ts';

/** Settings for shell completion. They are read without checking, tightening or reporting anything. */
export interface SettingsPeek {
  /** Base URL and key of the active service; undefined if the settings name no usable service. */
  readonly service: { readonly baseUrl: string; readonly apiKey: string | undefined } | undefined;
  readonly profiles: ReadonlyMap<string, string>;
  /** The profile's spare keys: the last four characters of each, and when the key was stored. */
  readonly keys: ReadonlyMap<string, string>;
  /** Addresses, keyed by name. Each is formatted as one line. */
  readonly addresses: ReadonlyMap<string, string>;
  /** CSV heading maps, keyed by name. Each has its headings. */
  readonly maps: ReadonlyMap<string, string>;
}

interface Flags {
  readonly profile: string | undefined;
  readonly baseUrl: string | undefined;
}

const maxBytes = 4 * 1024 * 1024;

/** @param flags are the flags on the command line. Never throws. Whatever is unreadable counts as empty. */
export function peekSettings(file: string, environment: Environment, flags: Flags): SettingsPeek {
  const root = readRoot(file);
  const profiles = new Map(
    Object.entries({ [localProfile]: { base_url: embeddedUrl }, ...fields(root.profiles) }).map(
      ([name, profile]) => [name, fields(profile)],
    ),
  );
  const named = flags.profile ?? (environment.ERRAND_PROFILE || text(root.current_profile) || localProfile);
  const profile = profiles.get(named);
  const own = usable(text(profile?.base_url) ?? embeddedUrl);
  const requested = flags.baseUrl ?? (environment.ERRAND_BASE_URL || undefined);
  const baseUrl = requested === undefined ? own : usable(requested);
  const stored = baseUrl === own ? text(profile?.api_key) : undefined;
  return {
    service:
      profile && baseUrl !== undefined
        ? { baseUrl, apiKey: environment.ERRAND_API_KEY || stored }
        : undefined,
    profiles: new Map([...profiles].map(([name, { base_url }]) => [name, text(base_url) ?? embeddedUrl])),
    keys: new Map(spareKeys(profile)),
    addresses: new Map(
      Object.entries(fields(root.addresses)).map(([name, address]) => [name, oneLine(fields(address))]),
    ),
    maps: new Map(
      Object.entries(fields(root.maps)).map(([name, map]) => [name, Object.keys(fields(map)).join(', ')]),
    ),
  };
}

type Fields = Readonly<Record<string, unknown>>;

const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function readRoot(file: string): Fields {
  try {
    const stats = lstatSync(file);
    // Reading a FIFO would block the shell.
    if (!stats.isFile() || stats.size > maxBytes) return {};
    return fields(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}

/** Spare keys that `auth use` accepts and that may be shown on a terminal. */
function spareKeys(profile: Fields = {}): (readonly [string, string])[] {
  const others: unknown[] = Array.isArray(profile.other_keys) ? profile.other_keys : [];
  return others.flatMap((other) => {
    const { api_key: key, stored_at: at } = fields(other);
    return typeof key === 'string' && key.length > 24
      ? [[key.slice(-4), (text(at) ?? '').slice(0, 10)] as const]
      : [];
  });
}

/** Normalizes a base URL; undefined if no command would accept it. */
function usable(text: string): string | undefined {
  if (text === embeddedUrl) return text;
  const url = httpUrl(text);
  return url && !hasCredentials(url) && !hasQuery(url) ? plainBase(url) : undefined;
}

const oneLine = ({ first_name, last_name, address_line1, city, country }: Fields): string =>
  [
    [text(first_name), text(last_name)].filter(Boolean).join(' '),
    text(address_line1),
    text(city),
    text(country),
  ]
    .filter(Boolean)
    .join(', ');
