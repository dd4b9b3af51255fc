import { isObject, type JsonObject, listIn, numberIn, own, textIn } from '../../api/json.ts';
import { formatMoney } from '../../format/money.ts';
import type { Job } from '../../journal/postgres/queue.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { TableFlags } from '../csv/table-options.ts';
import { defaultBatchRows } from '../upload/batches.ts';
import type { FileGiven } from '../upload/prepare.ts';

/** Terms that determine the rows, keys, batches and limits of a shared upload. They are identical for all workers. */
interface Terms {
  /** File name for messages and for the service. */
  readonly file: string;
  readonly sha256: string;
  readonly batchSize: number;
  readonly run: string;
  readonly skipInvalid: boolean;
  readonly skipDuplicates: boolean;
  readonly again: boolean;
  readonly notifies: boolean;
  /** Limit on the total in cents; undefined without `--max-total`. */
  readonly maxTotal: number | undefined;
  /** Requests per second; undefined without `--rate`. */
  readonly rate: number | undefined;
  readonly table: TableFlags;
}

/** Options that the user gave to a worker. */
export interface WorkerFlags extends FileGiven {
  readonly maxTotal?: number | undefined;
  readonly rate?: number | undefined;
}

export const termsOf = (
  flags: WorkerFlags,
  file: { readonly name: string; readonly sha256: string },
): Terms => ({
  file: file.name,
  sha256: file.sha256,
  batchSize: flags.batchSize ?? defaultBatchRows,
  run: flags.run ?? '',
  skipInvalid: flags.skipInvalid ?? false,
  skipDuplicates: flags.skipDuplicates ?? false,
  again: flags.again ?? false,
  notifies: flags.notifyOnComplete ?? false,
  maxTotal: flags.maxTotal,
  rate: flags.rate,
  table: tableOf(flags),
});

const tableOf = ({
  map,
  own: saved,
  useMap,
  referenceColumn,
  namespace,
  amounts,
  locale,
  encoding,
  delimiter,
  quotes,
  default: defaults,
  sheet,
}: TableFlags): TableFlags => ({
  ...{ map, own: saved, useMap, referenceColumn, namespace, amounts, locale, encoding, delimiter, sheet },
  ...{ quotes, default: defaults },
});

/** Serializes terms for the database. */
export const serializeTerms = (terms: Terms): JsonObject => JSON.parse(JSON.stringify(terms));

/** Terms that a worker needs if it did not read the file. */
export const workOf = ({ terms }: Pick<Job, 'terms'>) => ({
  file: textIn(terms, 'file') ?? 'orders.csv',
  notifies: own(terms, 'notifies') === true,
  run: textIn(terms, 'run') ?? '',
  skipDuplicates: own(terms, 'skipDuplicates') === true,
  again: own(terms, 'again') === true,
  rate: numberIn(terms, 'rate'),
});

/**
 * Checks that a worker's options match the terms with which the upload began. An option that was not given defaults to
 * these terms. @param file is this worker's file; undefined if the worker has none. @throws ErrandError conflict naming
 * the difference and both values.
 */
export function checkTerms(
  { name, terms }: Pick<Job, 'name' | 'terms'>,
  flags: WorkerFlags,
  file: { readonly name: string; readonly sha256: string } | undefined,
): void {
  if (file && file.sha256 !== textIn(terms, 'sha256'))
    throw new ErrandError(
      'conflict',
      `${file.name} is not the file that is shared as ${name}: it has other bytes; nothing was sent`,
      {
        outcome: 'not_sent',
        hint: `All workers need the same file, or none: \`errand bulk upload --share --name ${name}\` reads the rows from the database. Another file needs a --name of its own.`,
      },
    );
  const table = own(terms, 'table');
  const saved: readonly (readonly [flag: string, said: unknown, kept: unknown])[] = [
    ['--batch-size', flags.batchSize, numberIn(terms, 'batchSize')],
    ['--run', flags.run, textIn(terms, 'run')],
    ['--skip-invalid', flags.skipInvalid, own(terms, 'skipInvalid')],
    ['--skip-duplicates', flags.skipDuplicates, own(terms, 'skipDuplicates') === true],
    ['--again', flags.again, own(terms, 'again') === true],
    ['--notify-on-complete', flags.notifyOnComplete, own(terms, 'notifies')],
    ['--max-total', flags.maxTotal, numberIn(terms, 'maxTotal')],
    ['--rate', flags.rate, numberIn(terms, 'rate')],
    ...(
      ['useMap', 'namespace', 'amounts', 'locale', 'encoding', 'delimiter', 'quotes', 'sheet'] as const
    ).map((key) => [key === 'useMap' ? '--use-map' : `--${key}`, flags[key], own(table, key)] as const),
    ['--map', flags.map && pairsText(flags.map), pairsText(own(table, 'map'))],
    ['--default', flags.default && pairsText(flags.default), pairsText(own(table, 'default'))],
    [
      '--reference-column',
      flags.referenceColumn?.join(','),
      Array.isArray(own(table, 'referenceColumn')) ? listIn(table, 'referenceColumn').join(',') : undefined,
    ],
    ['--own', flags.own && listText(flags.own), listText(own(table, 'own'))],
  ];
  const other = saved.find(([, given, known]) => given !== undefined && given !== known);
  if (!other) return;
  const [flag, given, known] = other;
  const was =
    known === undefined || known === '' || known === false ? `without ${flag}` : `with ${shown(flag, known)}`;
  throw new ErrandError(
    'conflict',
    `${name} was begun ${was}, and here it is ${shown(flag, given)}; nothing was sent`,
    {
      outcome: 'not_sent',
      hint: `Leave ${flag} out: a worker takes what the upload was begun with. What is meant as another upload needs a --name of its own.`,
    },
  );
}

function shown(flag: string, value: unknown): string {
  if (value === true) return flag;
  if (flag === '--max-total' && typeof value === 'number') return `${flag} ${formatMoney(value)}`;
  return `${flag} ${typeof value === 'string' && value.includes(' ') ? JSON.stringify(value) : String(value)}`;
}

const pairsText = (map: unknown): string | undefined =>
  isObject(map) && Object.keys(map).length > 0
    ? Object.entries(map)
        .map(([heading, column]) => `${heading}=${String(column)}`)
        .sort()
        .join(', ')
    : undefined;

const listText = (list: unknown): string | undefined =>
  Array.isArray(list) && list.length > 0 ? list.map(String).sort().join(', ') : undefined;

/**
 * Refuses the name if another account or service has an unfinished upload with that name. @throws ErrandError conflict.
 */
export function checkNotElsewhere(
  elsewhere: Job | undefined,
  here: { readonly keyMasked: string; readonly baseUrl: string },
): void {
  if (!elsewhere) return;
  const isService = elsewhere.baseUrl !== here.baseUrl;
  const [there, own] = isService
    ? [`at ${elsewhere.baseUrl}`, here.baseUrl]
    : [`with the key ${elsewhere.sentWith}`, `the key ${here.keyMasked}`];
  throw new ErrandError(
    'conflict',
    `${elsewhere.name} is being uploaded ${there}, and this worker uses ${own}; nothing was sent`,
    {
      outcome: 'not_sent',
      hint: `All workers use the same ${isService ? 'service' : 'key'}. What is meant as another upload needs a --name of its own.`,
    },
  );
}

/** @throws UsageError if `--share` is combined with an incompatible option. */
export function checkShared(flags: {
  readonly shard?: string | undefined;
  readonly file: string | undefined;
  readonly name: string | undefined;
  readonly errors?: string | undefined;
}): void {
  if (flags.shard !== undefined)
    throw new UsageError('--share and --shard divide a file in two ways; give one of them');
  if (flags.file === undefined && flags.name === undefined)
    throw new UsageError(
      'bulk upload --share needs a file, or with --name the upload that other workers have begun',
    );
  if (flags.file === undefined && flags.errors !== undefined)
    throw new UsageError('--errors is for a worker that has the file: only that one checks it');
}
