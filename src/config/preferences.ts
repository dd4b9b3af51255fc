import { amountUnits } from '../api/amount.ts';
import { outputFormats } from '../format/result.ts';
import { parseDuration } from '../platform/duration.ts';
import { UsageError } from '../platform/errors.ts';
import { didYouMean } from '../platform/near-words.ts';
import { currentName, type Preference } from './stored.ts';

interface PreferenceSpec {
  readonly description: string;
  /** Value of the preference if it is not set. */
  readonly default: string;
  /**
   * Environment variables that take precedence. Each function converts the value of its variable. If it returns
   * undefined, the variable is ignored.
   */
  readonly variables?: Readonly<Record<string, (value: string) => string | undefined>>;
  /** Values to offer for completion. A free text has none. */
  readonly values?: readonly string[];
  /** Parses the text of `config set` into the stored value. @throws UsageError. */
  parse(text: string): Preference;
}

const truths = ['on', 'off'];
const asIs = (value: string): string => value;
const ifSet = (value: string): string | undefined => (isTruthy(value) ? 'on' : undefined);
const isTruthy = (value: string): boolean => value !== '0' && value !== 'false' && value !== 'off';

const colors = ['auto', 'always', 'never'];
const accessibles = ['on', 'lines', 'off'];

export const preferences: Readonly<Record<string, PreferenceSpec>> = {
  output: {
    description: `output format: ${outputFormats.join(', ')}`,
    default: 'table',
    variables: { ERRAND_OUTPUT: asIs },
    values: outputFormats,
    parse: oneOf('output', outputFormats),
  },
  timeout: {
    description: 'give up on a request after this long: 30s',
    default: '30s',
    variables: { ERRAND_TIMEOUT: asIs },
    parse: (text) => {
      parseDuration(text, 'timeout');
      return text;
    },
  },
  retries: {
    description: 'attempts after the first one: 0 to 20',
    default: '4',
    parse: integer('retries', 0, 20),
  },
  utc: {
    description: 'absolute UTC times in tables: on or off',
    default: 'off',
    values: truths,
    parse: truth('utc'),
  },
  'no-input': {
    description: 'never ask: on or off',
    default: 'off',
    variables: { ERRAND_NO_INPUT: ifSet, CI: ifSet },
    values: truths,
    parse: truth('no-input'),
  },
  color: {
    description: 'colours: auto (on a terminal), always or never',
    default: 'auto',
    variables: { NO_COLOR: () => 'never', FORCE_COLOR: (value) => (isTruthy(value) ? 'always' : 'never') },
    values: colors,
    parse: oneOf('color', colors),
  },
  pager: {
    description: 'command that shows what is longer than the terminal; off for none',
    default: 'less -FRX',
    variables: { PAGER: (value) => value || 'off' },
    values: ['less -FRX', 'off'],
    parse: asIs,
  },
  'time-zone': {
    description:
      "zone of days and months in reports, such as America/Chicago; not set, it is the system's on a terminal and UTC elsewhere; a policy's own goes first",
    default: 'system, or UTC',
    parse: (text) => {
      try {
        return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
      } catch {
        throw new UsageError(`time-zone takes a zone such as America/Chicago, not "${text}"`);
      }
    },
  },
  accessible: {
    description:
      'for screen readers: numbered questions and no redrawing; lines also shows tables as labelled lines',
    default: 'off',
    variables: { ACCESSIBLE: (value) => (value === 'lines' ? value : ifSet(value)) },
    values: accessibles,
    parse: oneOf('accessible', accessibles),
  },
  'duplicate-window': {
    description: 'how long an order like an earlier one is taken for a duplicate: 12h, or 0 for never',
    default: '12h; 10m with a test key',
    variables: { ERRAND_DUPLICATE_WINDOW: asIs },
    parse: (text) => {
      parseWindow(text, 'duplicate-window');
      return text;
    },
  },
  'x402-assets': {
    description:
      'what x402 may pay with, as NETWORK/ASSET:DECIMALS, several with commas: one whole unit of each counts as a US dollar',
    default: 'none',
    parse: (text) => {
      parseAssets(text, 'x402-assets');
      return text;
    },
  },
  amounts: {
    description: `what bare whole numbers under max_price in a CSV are: ${amountUnits.join(' or ')}`,
    default: 'refused',
    values: amountUnits,
    parse: oneOf('amounts', amountUnits),
  },
  'sandbox-speed': {
    description: 'how many times faster than usual the embedded sandbox lives: 1 to 1000',
    default: '1',
    parse: integer('sandbox-speed', 1, 1000),
  },
  'sandbox-seed': {
    description: 'seed of the embedded sandbox, for data made from now on',
    default: 'random',
    parse: integer('sandbox-seed', 0, 2 ** 31 - 1),
  },
};

/** An asset of which one whole unit counts as one US dollar. */
export interface DollarAsset {
  /** `network/asset`. */
  readonly name: string;
  readonly decimals: number;
}

const assetPattern = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}\/[-_.a-zA-Z0-9]{1,128}):(\d{1,2})$/;
const minDecimals = 2;
const maxDecimals = 36;

/** Parses assets such as `eip155:8453/0x8335…:6`. @throws UsageError that names the setting. */
export function parseAssets(text: string, name: string): readonly DollarAsset[] {
  return text.split(',').map((part) => {
    const [, asset = '', digits = ''] = assetPattern.exec(part.trim()) ?? [];
    const decimals = Number(digits);
    if (asset !== '' && decimals >= minDecimals && decimals <= maxDecimals) return { name: asset, decimals };
    throw new UsageError(
      `${name} takes NETWORK/ASSET:DECIMALS, such as eip155:8453/0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913:6, not "${part.trim()}"`,
    );
  });
}

/** The effective value of a preference, and its source. */
export interface PreferenceInUse {
  readonly value: string;
  /** A variable's name, `config`, or `default`. */
  readonly from: string;
}

/** @param stored is the stored value; undefined if it is not set. */
export function preferenceInUse(
  name: string,
  stored: Preference | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): PreferenceInUse {
  const { variables = {}, default: otherwise, values } = specOf(name);
  for (const [variable, meaning] of Object.entries(variables)) {
    const given = environment[variable];
    const value = given === undefined || (given === '' && variable !== 'PAGER') ? undefined : meaning(given);
    if (value !== undefined) return { value, from: variable };
  }
  if (stored === undefined) return { value: otherwise, from: 'default' };
  const isTruth = typeof stored === 'boolean' && values === truths;
  return { value: isTruth ? (stored ? 'on' : 'off') : String(stored), from: 'config' };
}

/** Parses a duration or 0. @returns ms. @throws UsageError that names the setting. */
export const parseWindow = (text: string, name: string): number =>
  text.trim() === '0' ? 0 : parseDuration(text, name);

/** Validates one preference. @throws UsageError naming it and the accepted values. */
export function parsePreference(name: string, text: string): Preference {
  return specOf(name).parse(text);
}

/** @throws UsageError listing the known names. */
export function specOf(name: string): PreferenceSpec {
  const current = currentName(name);
  const spec = Object.hasOwn(preferences, current) ? preferences[current] : undefined;
  if (spec) return spec;
  const known = Object.keys(preferences);
  throw new UsageError(
    `there is no preference "${name}"; known are ${known.join(', ')}${didYouMean(name.toLowerCase(), known)}`,
  );
}

function oneOf(name: string, values: readonly string[]): (text: string) => string {
  return (text) => {
    if (values.includes(text)) return text;
    throw new UsageError(
      `${name} takes one of ${values.join(', ')}, not "${text}"${didYouMean(text.toLowerCase(), values)}`,
    );
  };
}

function integer(name: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new UsageError(`${name} takes a whole number from ${min} to ${max}, not "${text}"`);
  };
}

function truth(name: string): (text: string) => boolean {
  return (text) => {
    if (['on', 'true', 'yes'].includes(text)) return true;
    if (['off', 'false', 'no'].includes(text)) return false;
    throw new UsageError(`${name} takes on or off, not "${text}"`);
  };
}
