import type { Option, Options } from '../run/option.ts';
import { flagOf } from '../run/parse-option.ts';
import { globalOptions, requestOptions, writeOptions } from './global-options.ts';
import type { CommandLine } from './mount.ts';

/** Replaces a value that may be private. */
const withheld = '…';

/**
 * Formats a command line without anything that could identify a person, a place or a secret. Keeps flags, and keeps
 * values that are numbers, dates, durations, enum words or ids. Masks all other values.
 */
export function privateCommand({ path, command, input, globals }: CommandLine): string {
  const options: Options = { ...globalOptions, ...requestOptions, ...writeOptions, ...command.options };
  const given = (command.arguments ?? []).flatMap(({ name }) => listOf(input[name]).map(plain));
  const flags = Object.entries({ ...globals, ...input }).flatMap(([key, value]) => {
    const option = Object.hasOwn(options, key) ? options[key] : undefined;
    return option ? flagWords(option, option.flag ?? flagOf(key), value) : [];
  });
  const words = ['errand', path, ...given.slice(0, maxValues), ...flags];
  return given.length > maxValues ? `${words.join(' ')} (${given.length} arguments)` : words.join(' ');
}

/** Maximum number of values to show, since there may be thousands of ids. */
const maxValues = 20;

function flagWords(option: Option, flag: string, value: unknown): string[] {
  if (value === undefined || value === false) return value === false ? [`--no-${flag.slice(2)}`] : [];
  switch (option.kind) {
    case 'flag':
    case 'yes-no':
      return [flag];
    case 'money':
      return [`${flag}-cents`, String(value)];
    case 'integer':
    case 'number':
    case 'choice':
    case 'date':
      return [flag, String(value)];
    case 'duration':
      return [flag, `${String(value)}ms`];
    case 'list':
      return [flag, option.values ? listOf(value).join(',') : withheld];
    default:
      return [flag, ...listOf(value).slice(0, maxValues).map(plain)];
  }
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const plain = (value: unknown): string =>
  uuid.test(String(value)) || value === '-' ? String(value) : withheld;

function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null ? Object.keys(value) : [value];
}
