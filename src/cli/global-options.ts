import { outputFormats } from '../format/result.ts';
import type { Options } from '../run/option.ts';

/** Options of every command. */
export const globalOptions = {
  output: {
    kind: 'choice',
    short: 'o',
    values: outputFormats,
    placeholder: 'format',
    description: `${outputFormats.join(', ')} (default table)`,
  },
  fields: {
    kind: 'list',
    placeholder: 'paths',
    description: 'columns or fields to show: id,status,items.0.url',
  },
  query: { kind: 'text', placeholder: 'expression', description: 'JMESPath over the JSON' },
  utc: { kind: 'flag', description: 'absolute UTC times in tables' },
  rawCsv: { kind: 'flag', description: 'do not escape formula-like CSV cells' },
  excel: { kind: 'flag', description: 'begin CSV with a byte order mark, for Excel' },
  profile: { kind: 'text', completes: 'profiles', placeholder: 'name', description: 'profile to use' },
  baseUrl: {
    kind: 'text',
    placeholder: 'url',
    description: 'base URL; `embedded:` is the built-in sandbox',
  },
  timeout: { kind: 'duration', placeholder: 'time', description: 'give up after this long: 30s, 5m' },
  retries: {
    kind: 'integer',
    min: 0,
    max: 20,
    placeholder: 'n',
    description: 'retries after the first attempt',
  },
  debug: { kind: 'flag', description: 'trace requests on stderr, secrets redacted' },
} as const satisfies Options;

/** Options of every command that writes. */
export const writeOptions = {
  dryRun: { kind: 'flag', description: 'print the request; send nothing' },
} as const satisfies Options;

/** Options of every command that calls the service. */
export const requestOptions = {
  curl: { kind: 'flag', description: 'print the request as a curl command; send nothing' },
} as const satisfies Options;
