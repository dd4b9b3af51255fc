import { dirname, isAbsolute } from 'node:path';
import { UsageError } from '../platform/errors.ts';
import { checkPrivateFolder, readPrivateFile, type Warn } from '../platform/private-files.ts';
import { unreadConfig } from './paths.ts';

/** A spare key of a profile. */
export interface SpareKey {
  readonly api_key: string;
  /** ISO 8601. */
  readonly stored_at?: string;
}

/** A command that prints a key, as an argument list that begins with the program's absolute path. */
export type KeyCommand = readonly [string, ...string[]];

/** A named context, which is a service and its keys. The fields are named as in the file. */
export interface Profile {
  readonly base_url: string;
  readonly legacy_base_url?: string;
  readonly api_key?: string;
  /** When the key was stored, ISO 8601. */
  readonly key_stored_at?: string;
  /** Inactive keys for the same service, newest first. */
  readonly other_keys?: readonly SpareKey[];
  /** Command that prints the key when it is needed. It replaces stored keys. */
  readonly key_command?: KeyCommand;
  readonly legacy_token?: string;
  readonly allow_plain_http?: boolean;
  /** Absolute path of this profile's policy file. */
  readonly policy?: string;
  /** Address, including the password, of the database that is shared with other machines. */
  readonly database?: string;
}

export type Preference = string | number | boolean;
export type ColumnMap = Readonly<Record<string, string>>;
/** Which columns of a file form the reference of each row, and in which namespace. */
export interface StoredReference {
  /** Each item is a heading, or several headings separated by commas. */
  readonly columns: readonly string[];
  readonly namespace?: string;
}
/** How the cells of a file are read, apart from the map of its headings. */
export interface StoredReading {
  readonly encoding?: string;
  readonly delimiter?: string;
  readonly quotes?: string;
  readonly locale?: string;
  readonly amounts?: string;
  readonly sheet?: string;
  /** For each column, the text that cells without a value contain. */
  readonly defaults?: Readonly<Record<string, string>>;
}
export type StoredAddress = Readonly<Record<string, string | null>>;

export interface Stored {
  readonly current_profile: string;
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly preferences: Readonly<Record<string, Preference>>;
  readonly addresses: Readonly<Record<string, StoredAddress>>;
  readonly default_address?: string;
  /** Name of the address that was saved from the sandbox's example, and so is not the user's own. */
  readonly example_address?: string;
  /** Maps from CSV headings to columns, by name. */
  readonly maps: Readonly<Record<string, ColumnMap>>;
  /** The preset that each map extends, keyed by map name. */
  readonly map_presets: Readonly<Record<string, string>>;
  /** Where each map reads references, keyed by map name. */
  readonly map_references: Readonly<Record<string, StoredReference>>;
  /** How each map reads cells, keyed by map name. */
  readonly map_readings: Readonly<Record<string, StoredReading>>;
  /**
   * When the journal of each state folder was created, ISO 8601. If a journal is lost, this time reveals that the empty
   * journal in its place is not simply a new journal.
   */
  readonly journals: Readonly<Record<string, string>>;
}

/** All fields of the file and of a profile. No other field is read. */
export const storedFields = [
  'current_profile',
  'profiles',
  'preferences',
  'addresses',
  'default_address',
  'example_address',
  'maps',
  'map_presets',
  'map_references',
  'map_readings',
  'journals',
] as const satisfies readonly (keyof Stored)[];
export const profileFields = [
  'base_url',
  'legacy_base_url',
  'api_key',
  'key_stored_at',
  'other_keys',
  'key_command',
  'legacy_token',
  'allow_plain_http',
  'policy',
  'database',
] as const satisfies readonly (keyof Profile)[];

export const localProfile = 'local';
export const embeddedUrl = 'embedded:';

export const emptyStored: Stored = {
  current_profile: localProfile,
  profiles: { [localProfile]: { base_url: embeddedUrl } },
  preferences: {},
  addresses: {},
  maps: {},
  map_presets: {},
  map_references: {},
  map_readings: {},
  journals: {},
};

/** Valid name of a profile or address. */
export const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The configuration file is unusable; it is left untouched. */
export class BrokenConfigError extends UsageError {
  readonly file: string;
  constructor(file: string, what: string) {
    super(`the configuration ${file} ${what}`, {
      hint: 'Correct the file, or set a value (`errand config set …`): the broken file is then kept as a backup.',
    });
    this.file = file;
  }
}

/**
 * Reads the configuration file. If the file is missing, it counts as empty.
 * @param report is called if others could access the file or its folder, which has just been corrected.
 * @throws BrokenConfigError; StorageError if the file is unreadable, or is a link, a FIFO, a device or another user's
 * file.
 */
export function readStored(file: string, report: Warn): Stored {
  let bytes: Buffer | undefined;
  try {
    checkPrivateFolder(dirname(file), report);
    bytes = readPrivateFile(file, report);
  } catch (error) {
    throw unreadConfig(file, error);
  }
  return bytes === undefined ? emptyStored : checkStored(file, parse(file, bytes.toString('utf8')));
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = error instanceof Error ? brokenAt(text, error.message) : undefined;
    const where = at === undefined ? '' : ` (line ${text.slice(0, at).split('\n').length})`;
    throw new BrokenConfigError(file, `is not JSON${where}`);
  }
}

const quotedEnd = ' is not valid JSON';

/**
 * Locates the parse error. Never shows the parser's own message, which quotes the text and may reveal part of a key.
 */
function brokenAt(text: string, words: string): number | undefined {
  if (words.startsWith('Unexpected end')) return text.length;
  const position = / at position (\d+)/.exec(words)?.[1];
  if (position !== undefined) return Number(position);
  const quoted = words.endsWith(quotedEnd) ? words.slice(words.indexOf('"') + 1, words.lastIndexOf('"')) : '';
  const found = quoted === '' ? -1 : text.indexOf(quoted);
  // If the quoted text occurs twice, its position is ambiguous.
  return found < 0 || text.indexOf(quoted, found + 1) >= 0 ? undefined : found + quoted.length / 2;
}

function checkStored(file: string, value: unknown): Stored {
  const root = fieldsOf(file, 'the file', value);
  const profiles = Object.entries(fieldsOf(file, 'profiles', root.profiles ?? {})).map(([name, profile]) => [
    checkName(file, name),
    checkProfile(file, name, profile),
  ]);
  const addresses = Object.entries(fieldsOf(file, 'addresses', root.addresses ?? {})).map(
    ([name, address]) => [checkName(file, name), checkAddress(file, name, address)],
  );
  const maps = Object.entries(fieldsOf(file, 'maps', root.maps ?? {})).map(([name, map]) => [
    checkName(file, name),
    checkMap(file, name, map),
  ]);
  const current = optionalText(file, 'current_profile', root.current_profile) ?? localProfile;
  const defaultAddress = optionalText(file, 'default_address', root.default_address);
  const exampleAddress = optionalText(file, 'example_address', root.example_address);
  return {
    current_profile: current,
    profiles: { ...emptyStored.profiles, ...Object.fromEntries(profiles) },
    preferences: checkPreferences(file, root.preferences),
    addresses: Object.fromEntries(addresses),
    maps: Object.fromEntries(maps),
    map_presets: Object.fromEntries(
      Object.entries(fieldsOf(file, 'map_presets', root.map_presets ?? {})).map(([name, preset]) => [
        checkName(file, name),
        optionalText(file, `map_presets.${name}`, preset) ?? '',
      ]),
    ),
    map_references: Object.fromEntries(
      Object.entries(fieldsOf(file, 'map_references', root.map_references ?? {})).map(([name, reference]) => [
        checkName(file, name),
        checkReference(file, `map_references.${name}`, reference),
      ]),
    ),
    map_readings: Object.fromEntries(
      Object.entries(fieldsOf(file, 'map_readings', root.map_readings ?? {})).map(([name, reading]) => [
        checkName(file, name),
        checkReading(file, `map_readings.${name}`, reading),
      ]),
    ),
    journals: checkJournals(file, root.journals),
    ...(defaultAddress !== undefined && { default_address: defaultAddress }),
    ...(exampleAddress !== undefined && { example_address: exampleAddress }),
  };
}

function checkReference(file: string, path: string, value: unknown): StoredReference {
  const { columns = [], namespace } = fieldsOf(file, path, value);
  if (!Array.isArray(columns)) throw wrong(file, `${path}.columns`, 'a list');
  const named = optionalText(file, `${path}.namespace`, namespace);
  return {
    columns: columns.map((column, at) => optionalText(file, `${path}.columns.${at}`, column) ?? ''),
    ...(named !== undefined && { namespace: named }),
  };
}

function checkReading(file: string, path: string, value: unknown): StoredReading {
  const { defaults, ...fields } = fieldsOf(file, path, value);
  const texts = (at: string, given: Readonly<Record<string, unknown>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).map(([name, text]) => [name, optionalText(file, `${at}.${name}`, text) ?? '']),
    );
  return {
    ...texts(path, fields),
    ...(defaults !== undefined && {
      defaults: texts(`${path}.defaults`, fieldsOf(file, `${path}.defaults`, defaults)),
    }),
  };
}

function checkJournals(file: string, value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(fieldsOf(file, 'journals', value ?? {}));
  return Object.fromEntries(
    entries.map(([folder, at]) => [folder, optionalText(file, `journals.${folder}`, at) ?? '']),
  );
}

function checkProfile(file: string, name: string, value: unknown): Profile {
  const fields = fieldsOf(file, `profiles.${name}`, value);
  const text = (field: string) => optionalText(file, `profiles.${name}.${field}`, fields[field]);
  const [legacy, key, token] = [text('legacy_base_url'), text('api_key'), text('legacy_token')];
  const [policy, storedAt, database] = [text('policy'), text('key_stored_at'), text('database')];
  const others = checkOtherKeys(file, `profiles.${name}.other_keys`, fields.other_keys);
  const command = checkKeyCommand(file, `profiles.${name}.key_command`, fields.key_command);
  if (command && (key !== undefined || others.length > 0))
    throw wrong(file, `profiles.${name}`, 'a key_command or stored keys, not both');
  const plain = fields.allow_plain_http;
  if (plain !== undefined && typeof plain !== 'boolean')
    throw wrong(file, `profiles.${name}.allow_plain_http`, 'true or false');
  return {
    base_url: text('base_url') ?? embeddedUrl,
    ...(legacy !== undefined && { legacy_base_url: legacy }),
    ...(key !== undefined && { api_key: key }),
    ...(key !== undefined && storedAt !== undefined && { key_stored_at: storedAt }),
    ...(others.length > 0 && { other_keys: others }),
    ...(command && { key_command: command }),
    ...(token !== undefined && { legacy_token: token }),
    ...(plain !== undefined && { allow_plain_http: plain }),
    ...(policy !== undefined && { policy }),
    ...(database !== undefined && { database }),
  };
}

function checkKeyCommand(file: string, path: string, value: unknown): KeyCommand | undefined {
  if (value === undefined) return undefined;
  const words = Array.isArray(value) ? value.filter((word) => typeof word === 'string') : [];
  const [program, ...args] = words;
  if (!Array.isArray(value) || words.length !== value.length || program === undefined || !isAbsolute(program))
    throw wrong(file, path, 'a list: the absolute path of a program, then its arguments');
  return [program, ...args];
}

function checkOtherKeys(file: string, path: string, value: unknown = []): SpareKey[] {
  if (!Array.isArray(value)) throw wrong(file, path, 'a list');
  return value.map((one: unknown, index): SpareKey => {
    const at = `${path}.${index}`;
    const fields = fieldsOf(file, at, one);
    const key = optionalText(file, `${at}.api_key`, fields.api_key);
    const storedAt = optionalText(file, `${at}.stored_at`, fields.stored_at);
    if (key === undefined) throw wrong(file, `${at}.api_key`, 'a text');
    return { api_key: key, ...(storedAt !== undefined && { stored_at: storedAt }) };
  });
}

function checkAddress(file: string, name: string, value: unknown): StoredAddress {
  const fields = Object.entries(fieldsOf(file, `addresses.${name}`, value));
  for (const [field, text] of fields)
    if (text !== null) optionalText(file, `addresses.${name}.${field}`, text);
  return Object.fromEntries(fields.map(([field, text]) => [field, text === null ? null : String(text)]));
}

function checkMap(file: string, name: string, value: unknown): ColumnMap {
  const fields = Object.entries(fieldsOf(file, `maps.${name}`, value));
  return Object.fromEntries(
    fields.map(([heading, column]) => [heading, optionalText(file, `maps.${name}.${heading}`, column) ?? '']),
  );
}

/** Current names of renamed preferences, keyed by former name. */
export const renamedPreferences: Readonly<Record<string, string>> = { 'repeat-window': 'duplicate-window' };

/** The current name of a preference. The name given may be the former name. */
export const currentName = (name: string): string =>
  (Object.hasOwn(renamedPreferences, name) ? renamedPreferences[name] : undefined) ?? name;

/**
 * Validates the preferences, and renames those that still have a former name. If a preference has values under both
 * names, the value under the current name applies.
 */
function checkPreferences(file: string, value: unknown): Record<string, Preference> {
  const entries = Object.entries(fieldsOf(file, 'preferences', value ?? {})).map(
    ([name, entry]): [string, Preference] => {
      if (typeof entry === 'string' || typeof entry === 'number' || typeof entry === 'boolean')
        return [name, entry];
      throw wrong(file, `preferences.${name}`, 'a text, a number, true or false');
    },
  );
  const former = entries.filter(([name]) => currentName(name) !== name);
  const current = entries.filter(([name]) => currentName(name) === name);
  return Object.fromEntries([...former.map(([name, entry]) => [currentName(name), entry]), ...current]);
}

function fieldsOf(file: string, path: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(file, path, 'an object');
  return Object.assign(Object.create(null), value);
}

function optionalText(file: string, path: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw wrong(file, path, 'a text');
}

function checkName(file: string, name: string): string {
  if (namePattern.test(name)) return name;
  throw new BrokenConfigError(file, `has a name that is none: ${JSON.stringify(name)}`);
}

const wrong = (file: string, path: string, takes: string): BrokenConfigError =>
  new BrokenConfigError(file, `is wrong at ${path}: it takes ${takes}`);

/** Names of the profiles that use a certain base URL, for either the current or the legacy API. Pure. */
export const profilesAt = ({ profiles }: Stored, baseUrl: string): string[] =>
  Object.entries(profiles).flatMap(([name, { base_url, legacy_base_url }]) =>
    base_url === baseUrl || legacy_base_url === baseUrl ? [name] : [],
  );
