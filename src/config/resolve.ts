import { isAbsolute, join } from 'node:path';
import { type AmountUnit, amountUnits } from '../api/amount.ts';
import type { DatabaseAddress } from '../format/database-address.ts';
import { type OutputFormat, outputFormats } from '../format/result.ts';
import { parseDuration } from '../platform/duration.ts';
import { UsageError } from '../platform/errors.ts';
import { didYouMean } from '../platform/near-words.ts';
import { shellLine } from '../platform/shell.ts';
import { checkBaseUrl, checkDatabaseUrl } from './base-url.ts';
import { checkKey } from './keys.ts';
import type { Environment, Folders } from './paths.ts';
import { type DollarAsset, parseAssets, parseWindow } from './preferences.ts';
import { embeddedUrl, type KeyCommand, localProfile, type Profile, type Stored } from './stored.ts';

export type Origin = 'flag' | 'environment' | 'profile' | 'command' | 'preference' | 'default';

/** A value with its source, which is a flag, a variable, a profile or a key command. */
export interface Setting<T> {
  readonly value: T;
  readonly from: Origin;
  readonly name: string;
}

/** A shared database, and the source in which its address was found. */
export interface NamedDatabase extends DatabaseAddress, Pick<Setting<string>, 'from' | 'name'> {}

export interface Proxy {
  readonly https: string | undefined;
  readonly http: string | undefined;
  readonly none: string | undefined;
}

export interface Settings {
  readonly profile: Setting<string>;
  readonly baseUrl: Setting<string>;
  readonly legacyBaseUrl: Setting<string>;
  /** The key. Undefined if there is no key, or if a key command has to provide it. */
  readonly apiKey: Setting<string> | undefined;
  /**
   * The command of the profile that prints the key. Undefined if the profile has none, or if a variable holds the key.
   */
  readonly keyCommand: KeyCommand | undefined;
  readonly legacyToken: Setting<string> | undefined;
  /** Stored key that is not used, because the environment sets another key. */
  readonly shadowedKey: string | undefined;
  readonly allowPlainHttp: boolean;
  readonly output: Setting<OutputFormat>;
  /** Per request, in ms. */
  readonly timeoutMs: Setting<number>;
  readonly retries: Setting<number>;
  /**
   * How long an order counts as a duplicate, in ms. 0 disables the check. If undefined, the default for the service in
   * use applies.
   */
  readonly duplicateWindowMs: Setting<number | undefined>;
  /** Assets with which x402 payments may be made; empty if none are configured. */
  readonly x402Assets: Setting<readonly DollarAsset[]>;
  readonly utc: boolean;
  readonly debug: boolean;
  /** Why prompts are disabled; undefined if they are allowed. */
  readonly noInput: string | undefined;
  /**
   * Unit of whole numbers without a currency in the `max_price` column of a CSV file. Undefined unless a preference
   * sets the unit.
   */
  readonly amounts: AmountUnit | undefined;
  readonly proxy: Proxy;
  /** Whether the terminal cannot redraw (`TERM=dumb`). */
  readonly dumbTerminal: boolean;
  readonly tlsChecksOff: boolean;
  /** The policy file. If this is the default file, it may be absent. */
  readonly policy: Setting<string>;
  /** Database in which several machines keep the journal. Without it, the journal is local. */
  /**
   * Fingerprint of the only key whose published policies are followed. If undefined, this is the key that the machine
   * trusts.
   */
  readonly policySigner: Setting<string> | undefined;
  readonly database: NamedDatabase | undefined;
  readonly sandbox: { readonly speed: number; readonly seed: number | undefined };
  readonly folders: Folders;
}

export type Flags = Readonly<Record<string, unknown>>;

const defaultTimeoutMs = 30_000;
const defaultRetries = 4;

/**
 * Resolves settings. The order of precedence is flag, environment, profile or preference, default.
 * @throws UsageError naming the invalid flag or variable, and the values that it accepts.
 */
export function resolveSettings(
  flags: Flags,
  environment: Environment,
  stored: Stored,
  folders: Folders,
): Settings {
  const profile = pickProfile(flags, environment, stored);
  const savedProfile = profileNamed(stored, profile);
  const allowPlainHttp = savedProfile.allow_plain_http === true;
  const ownUrl = checkBaseUrl(
    savedProfile.base_url,
    `the base URL of profile ${profile.value}`,
    allowPlainHttp,
  );
  const givenUrl = first(textFlag(flags, 'baseUrl', '--base-url'), variable(environment, 'ERRAND_BASE_URL'));
  const baseUrl = givenUrl
    ? { ...givenUrl, value: checkBaseUrl(givenUrl.value, givenUrl.name, allowPlainHttp) }
    : ({
        value: ownUrl,
        from: profile.from === 'default' ? 'default' : 'profile',
        name: profile.value,
      } as const);
  // A stored key belongs to the service of its profile, and is never sent to another service.
  const usable: Partial<Profile> = baseUrl.value === ownUrl ? savedProfile : {};
  const legacyBaseUrl = legacyUrl(environment, savedProfile, baseUrl, ownUrl, allowPlainHttp);
  const isOwnLegacy =
    legacyBaseUrl.from === 'profile' || legacyBaseUrl.value === (savedProfile.legacy_base_url ?? ownUrl);
  const shadowing = variable(environment, 'ERRAND_API_KEY');
  return {
    profile,
    baseUrl,
    legacyBaseUrl,
    apiKey: keyed(first(shadowing, fromProfile(usable.api_key, profile.value))),
    keyCommand: shadowing ? undefined : usable.key_command,
    legacyToken: keyed(
      first(
        variable(environment, 'ERRAND_LEGACY_TOKEN'),
        fromProfile(isOwnLegacy ? savedProfile.legacy_token : undefined, profile.value),
      ),
    ),
    shadowedKey:
      shadowing && usable.api_key && usable.api_key !== shadowing.value ? usable.api_key : undefined,
    allowPlainHttp,
    output: pickOutput(flags, environment, stored),
    timeoutMs: pickTimeout(flags, environment, stored),
    retries: pickRetries(flags, stored),
    duplicateWindowMs: pickDuplicateWindow(environment, stored),
    x402Assets: pickAssets(stored),
    utc: flags.utc === true || stored.preferences.utc === true,
    debug: flags.debug === true || isSet(environment.ERRAND_DEBUG),
    noInput: noInputReason(flags, environment, stored),
    amounts: amountUnits.find((unit) => unit === stored.preferences.amounts),
    proxy: proxyOf(environment),
    dumbTerminal: environment.TERM === 'dumb',
    tlsChecksOff: environment.NODE_TLS_REJECT_UNAUTHORIZED === '0',
    policy: pickPolicy(environment, savedProfile, profile.value, folders),
    policySigner: pickPolicySigner(environment),
    database: pickDatabase(environment, savedProfile, profile.value),
    sandbox: {
      speed: Number(stored.preferences['sandbox-speed'] ?? 1),
      seed: numberOf(stored.preferences['sandbox-seed']),
    },
    folders,
  };
}

/** @throws UsageError for a relative path. In another directory, that path would name a different policy, or none. */
function pickPolicy(
  environment: Environment,
  { policy }: Partial<Profile>,
  profile: string,
  folders: Folders,
): Setting<string> {
  // An empty variable shows that the user wants a policy. Therefore reject it instead of continuing without a policy.
  if (environment.ERRAND_POLICY === '')
    throw new UsageError('ERRAND_POLICY is empty; name the policy file, or unset it');
  const given = first(variable(environment, 'ERRAND_POLICY'), fromProfile(policy, profile));
  if (!given) return { value: join(folders.config, policyFile), from: 'default', name: policyFile };
  if (isAbsolute(given.value)) return given;
  const name = given.from === 'profile' ? `the policy of profile ${profile}` : given.name;
  throw new UsageError(`${name} must be an absolute path, not "${given.value}"`);
}

/**
 * @throws UsageError for any text that is not a fingerprint. Otherwise the mistake would go unnoticed until a policy is
 * read.
 */
function pickPolicySigner(environment: Environment): Setting<string> | undefined {
  const name = 'ERRAND_POLICY_SIGNER';
  // An empty variable shows that the user wants to name a key. Therefore reject it.
  if (environment[name] === '')
    throw new UsageError(`${name} is empty; name the fingerprint of a key, or unset it`);
  const given = variable(environment, name);
  return given && { ...given, value: checkFingerprint(given.value, name) };
}

/** @throws UsageError naming `where` if the text is not a fingerprint in the format of `ssh-keygen -l`. */
export function checkFingerprint(text: string, where: string): string {
  if (/^SHA256:[A-Za-z0-9+/]{43}$/.test(text)) return text;
  throw new UsageError(
    `${where} takes the fingerprint of an SSH key, as \`ssh-keygen -lf KEY.pub\` prints it: SHA256:…`,
  );
}

/** Selects the shared database. Rehearsals use the database too, so that they behave like the real run. */
function pickDatabase(
  environment: Environment,
  { database }: Partial<Profile>,
  profile: string,
): NamedDatabase | undefined {
  const name = 'ERRAND_DATABASE_URL';
  // An empty variable shows that the user wants to share the journal. Ignoring the variable could place an order twice.
  if (environment[name]?.trim() === '')
    throw new UsageError(`${name} is empty; name the database, or unset it`);
  const given = first(variable(environment, name), fromProfile(database, profile));
  if (!given) return undefined;
  const where = given.from === 'profile' ? `the database of profile ${profile}` : name;
  const { value, ...origin } = given;
  return { ...checkDatabaseUrl(value, where, environment.PGPASSWORD), ...origin };
}

/** Default policy file, in the configuration folder. */
const policyFile = 'policy.yaml';

const isSet = (text: string | undefined): boolean =>
  text !== undefined && text !== '' && text !== '0' && text !== 'false';
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const first = <T>(...settings: (Setting<T> | undefined)[]): Setting<T> | undefined =>
  settings.find((it) => it !== undefined);

function variable(environment: Environment, name: string): Setting<string> | undefined {
  const value = environment[name];
  return value === undefined || value === '' ? undefined : { value, from: 'environment', name };
}

function textFlag(flags: Flags, key: string, name: string): Setting<string> | undefined {
  const value = flags[key];
  return typeof value === 'string' ? { value, from: 'flag', name } : undefined;
}

const fromProfile = (value: string | undefined, profile: string): Setting<string> | undefined =>
  value === undefined ? undefined : { value, from: 'profile', name: profile };

const keyed = (setting: Setting<string> | undefined): Setting<string> | undefined =>
  setting && {
    ...setting,
    value: checkKey(
      setting.value,
      setting.from === 'profile' ? `the key of profile ${setting.name}` : setting.name,
    ),
  };

function pickProfile(flags: Flags, environment: Environment, stored: Stored): Setting<string> {
  const given = first(textFlag(flags, 'profile', '--profile'), variable(environment, 'ERRAND_PROFILE'));
  if (given) return given;
  const { current_profile: current } = stored;
  return { value: current, from: current === localProfile ? 'default' : 'profile', name: current };
}

function profileNamed(stored: Stored, { value, name }: Setting<string>): Profile {
  const profile = Object.hasOwn(stored.profiles, value) ? stored.profiles[value] : undefined;
  if (profile) return profile;
  throw new UsageError(
    `${name}: there is no profile "${value}"; known are ${Object.keys(stored.profiles).join(', ')}${didYouMean(value, Object.keys(stored.profiles))}`,
    {
      next: [{ command: shellLine`errand profile set ${value} --base-url URL`, when: 'to make it' }],
    },
  );
}

function legacyUrl(
  environment: Environment,
  savedProfile: Profile,
  baseUrl: Setting<string>,
  ownUrl: string,
  plain: boolean,
): Setting<string> {
  const given = first(
    variable(environment, 'ERRAND_LEGACY_BASE_URL'),
    baseUrl.value === ownUrl ? fromProfile(savedProfile.legacy_base_url, baseUrl.name) : undefined,
  );
  if (!given) return { ...baseUrl, from: 'default' };
  return {
    ...given,
    value: given.value === embeddedUrl ? embeddedUrl : checkBaseUrl(given.value, given.name, plain),
  };
}

function pickOutput(flags: Flags, environment: Environment, stored: Stored): Setting<OutputFormat> {
  const preference = stored.preferences.output;
  const given = first<string>(
    textFlag(flags, 'output', '--output'),
    variable(environment, 'ERRAND_OUTPUT'),
    typeof preference === 'string' ? { value: preference, from: 'preference', name: 'output' } : undefined,
  );
  if (!given) return { value: 'table', from: 'default', name: 'output' };
  const format = outputFormats.find((known) => known === given.value);
  if (!format)
    throw new UsageError(`${given.name} takes one of ${outputFormats.join(', ')}, not "${given.value}"`);
  return { ...given, value: format };
}

function pickTimeout(flags: Flags, environment: Environment, stored: Stored): Setting<number> {
  if (typeof flags.timeout === 'number') return { value: flags.timeout, from: 'flag', name: '--timeout' };
  const preference = stored.preferences.timeout;
  const given = first<string>(
    variable(environment, 'ERRAND_TIMEOUT'),
    preference === undefined ? undefined : { value: String(preference), from: 'preference', name: 'timeout' },
  );
  if (!given) return { value: defaultTimeoutMs, from: 'default', name: 'timeout' };
  return { ...given, value: parseDuration(given.value, given.name) };
}

function pickRetries(flags: Flags, stored: Stored): Setting<number> {
  if (typeof flags.retries === 'number') return { value: flags.retries, from: 'flag', name: '--retries' };
  const preference = numberOf(stored.preferences.retries);
  if (preference !== undefined) return { value: preference, from: 'preference', name: 'retries' };
  return { value: defaultRetries, from: 'default', name: 'retries' };
}

function pickDuplicateWindow(environment: Environment, { preferences }: Stored): Setting<number | undefined> {
  const name = 'duplicate-window';
  const preference = preferences[name];
  const given = first<string>(
    variable(environment, 'ERRAND_DUPLICATE_WINDOW'),
    preference === undefined ? undefined : { value: String(preference), from: 'preference', name },
  );
  if (!given) return { value: undefined, from: 'default', name };
  return { ...given, value: parseWindow(given.value, given.name) };
}

/**
 * Reads only the preferences, never the environment. Otherwise the caller could extend what may be used for payment.
 */
function pickAssets({ preferences }: Stored): Setting<readonly DollarAsset[]> {
  const name = 'x402-assets';
  const preference = preferences[name];
  if (preference === undefined) return { value: [], from: 'default', name };
  return { value: parseAssets(String(preference), name), from: 'preference', name };
}

function noInputReason(flags: Flags, environment: Environment, stored: Stored): string | undefined {
  if (flags.input === false) return '--no-input is given';
  if (isSet(environment.ERRAND_NO_INPUT)) return 'ERRAND_NO_INPUT is set';
  if (isSet(environment.CI)) return 'CI is set';
  return stored.preferences['no-input'] === true ? 'the preference no-input is set' : undefined;
}

function proxyOf(environment: Environment): Proxy {
  const pick = (name: string): string | undefined =>
    environment[name.toLowerCase()] || environment[name] || undefined;
  return { https: pick('HTTPS_PROXY'), http: pick('HTTP_PROXY'), none: pick('NO_PROXY') };
}
