import { amountUnits } from '../api/amount.ts';
import { outputFormats } from '../format/result.ts';
import { parseDuration } from '../platform/duration.ts';
import { UsageError } from '../platform/errors.ts';
import { currentName, type Preference } from './stored.ts';

interface PreferenceSpec {
  readonly description: string;
  /** Parses the text of `config set` into the stored value. @throws UsageError. */
  parse(text: string): Preference;
}

export const preferences: Readonly<Record<string, PreferenceSpec>> = {
  output: {
    description: `output format: ${outputFormats.join(', ')}`,
    parse: oneOf('output', outputFormats),
  },
  timeout: {
    description: 'give up on a request after this long: 30s',
    parse: (text) => {
      parseDuration(text, 'timeout');
      return text;
    },
  },
  retries: { description: 'attempts after the first one: 0 to 20', parse: integer('retries', 0, 20) },
  utc: { description: 'absolute UTC times in tables: true or false', parse: truth('utc') },
  'no-input': { description: 'never ask: true or false', parse: truth('no-input') },
  'duplicate-window': {
    description:
      'how long an order like an earlier one is taken for a duplicate: 12h, or 0 for never (default 12h, with a test key 10m)',
    parse: (text) => {
      parseWindow(text, 'duplicate-window');
      return text;
    },
  },
  'x402-assets': {
    description:
      'what x402 may pay with, as NETWORK/ASSET:DECIMALS, several with commas: one whole unit of each counts as a US dollar',
    parse: (text) => {
      parseAssets(text, 'x402-assets');
      return text;
    },
  },
  amounts: {
    description: `what bare whole numbers under max_price in a CSV are: ${amountUnits.join(' or ')}`,
    parse: oneOf('amounts', amountUnits),
  },
  'sandbox-speed': {
    description: 'how many times faster than usual the embedded sandbox lives: 1 to 1000',
    parse: integer('sandbox-speed', 1, 1000),
  },
  'sandbox-seed': {
    description: 'seed of the embedded sandbox, for data made from now on',
    parse: integer('sandbox-seed', 0, 2 ** 31 - 1),
  },
};

/** An asset of which one whole unit counts as a US dollar. */
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
  throw new UsageError(`there is no preference "${name}"; known are ${Object.keys(preferences).join(', ')}`);
}

function oneOf(name: string, values: readonly string[]): (text: string) => string {
  return (text) => {
    if (values.includes(text)) return text;
    throw new UsageError(`${name} takes one of ${values.join(', ')}, not "${text}"`);
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
    if (text === 'true' || text === 'false') return text === 'true';
    throw new UsageError(`${name} takes true or false, not "${text}"`);
  };
}
