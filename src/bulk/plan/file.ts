import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, stat as statOf } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { numberIn, textIn } from '../../api/json.ts';
import type { Plan, PlanCounts, PlanDraft, PlanRow } from '../../api/schemas/plan-file.ts';
import { reasonOf } from '../../config/paths.ts';
import { canonicalJson } from '../../format/canonical.ts';
import { saveFile } from '../../format/save-file.ts';
import { UsageError } from '../../platform/errors.ts';
import { sellersOf, totalsOf } from './totals.ts';

/** Maximum size of a plan, in bytes. */
const maxBytes = 256 * 1024 * 1024;

/**
 * Writes a plan atomically. Only the owner can read the file, because it contains addresses. @throws UsageError,
 * StorageError naming the path.
 */
export async function writePlan(path: string, chunks: readonly Buffer[], force: boolean): Promise<void> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  if (size > maxBytes)
    throw new UsageError(
      `the plan would have ${megabytes(size)}, and ${megabytes(maxBytes)} is the most; split the file`,
    );
  await saveFile(path, chunks, { force, mode: 0o600 });
}

/**
 * Checks the path for the plan before the work starts. A plan that overwrites `source` would destroy the orders, so
 * this is refused even with `force`. @throws UsageError naming the path.
 */
export async function checkTarget(path: string, source: string, force: boolean): Promise<void> {
  if (path === '-')
    throw new UsageError('--out names a file: the plan is read again by `bulk show` and `bulk apply`');
  if (await isSameFile(path, source))
    throw new UsageError(
      `--out: ${path} is the file that is planned, and the plan would take its place; name another`,
    );
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isDirectory()) throw new UsageError(`--out: ${path} is a folder; name a file`);
  if (stat && !stat.isFile() && !stat.isSymbolicLink())
    throw new UsageError(`--out: ${path} is not a plain file; name another`);
  if (stat && !force) throw new UsageError(`${path} already exists; use --force to overwrite it`);
  const folder = await statOf(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory())
    throw new UsageError(`${path} cannot be written: its folder is ${folder ? 'a file' : 'not there'}`);
}

/** Whether two paths lead to the same file, by whatever name or link. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all(
    [one, other].map((path) => statOf(path, { bigint: true }).catch(() => undefined)),
  );
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Default path of a plan. It is derived from the name of the source, but is never the source itself. */
export const defaultTarget = (source: string): string =>
  source === '-' ? 'orders.plan' : `${basename(source).replace(/\.(?:csv|tsv|txt)$/i, '')}.plan`;

/** Reads the bytes of a plan file. @throws UsageError naming what cannot be read. */
export async function readPlanFile(path: string): Promise<Buffer> {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  try {
    const file = await open(path, O_RDONLY | O_NONBLOCK);
    try {
      const stat = await file.stat();
      if (stat.isDirectory()) throw new UsageError(`${path} is a folder; name a plan`);
      if (!stat.isFile()) throw new UsageError(`${path} is not a plain file; a plan is one`);
      if (stat.size > maxBytes)
        throw new UsageError(
          `${path} has ${megabytes(stat.size)}; no plan has more than ${megabytes(maxBytes)}`,
        );
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    const code = codeOf(cause);
    const reason = code === 'ENOENT' ? 'there is no such file' : reasonOf(cause);
    if (batchForm.test(path) && code === 'ENOENT')
      throw new UsageError(`${path} is not a file; name the plan file that \`bulk plan\` wrote`, {
        cause,
        next: [{ command: `errand bulk get ${path}`, when: 'if you mean a batch' }],
      });
    throw new UsageError(`${path} cannot be read: ${reason}`, { cause });
  }
}

/** Matches a reference to a listed row (`@1`), or an id, or the start of an id. */
const batchForm = /^(?:@\d{1,9}|[0-9a-f]{8}[0-9a-f-]{0,28})$/i;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;

const ceilingOf = (order: object): number => numberIn(order, 'max_price') ?? 0;

/** Whether a plan sends a row. Pure. */
export const isNew = ({ attempt, placed }: Pick<PlanRow, 'attempt' | 'placed'>): boolean =>
  attempt === undefined ? placed === null : attempt !== null;

/**
 * Maximum amount, in cents, that a plan's rows can take from the wallet: the ceilings of the rows that are sent, plus
 * fees. Pure.
 */
export const maxSpendOf = (
  rows: readonly Pick<PlanRow, 'order' | 'attempt' | 'placed'>[],
  fee: number,
): number =>
  rows
    .filter((row) => isNew(row) && textIn(row.order, 'retailer_credentials_id') === undefined)
    .reduce((sum, { order }) => sum + ceilingOf(order) + fee, 0);

/**
 * Describes how a plan's header contradicts its rows; undefined if they agree. The description is phrased to follow the
 * file name. Pure.
 */
export function headProblem(plan: Plan): string | undefined {
  const { rows, products, totals, file, wallet, fee_cents: fee, counts, ...head } = plan;
  const sent = head.plan === 1 ? rows : rows.filter(isNew);
  const known = new Map(products.map((product) => [product.url, product]));
  const day = totals.find(({ by }) => by === 'day')?.value ?? '';
  const made = totalsOf(
    sent.map((row) => ({ ...row, sellers: sellersOf(row.order, known) })),
    { feeCents: fee, day },
  );
  const after =
    wallet.before_cents === null || wallet.by_invoice ? null : wallet.before_cents - head.most_cents;
  const differs = [
    [head.orders !== sent.length || file.rows !== rows.length + file.left_out, 'orders'],
    [head.ceilings_cents !== sent.reduce((sum, row) => sum + ceilingOf(row.order), 0), 'ceilings_cents'],
    [head.most_cents < maxSpendOf(rows, fee), 'most_cents'],
    [wallet.after_cents !== after, 'wallet'],
    [canonicalJson(totals) !== canonicalJson(made), 'totals'],
    [counts && !isCounted(counts, rows), 'counts'],
  ] as const;
  const found = differs.flatMap(([isOther, name]) => (isOther ? [name] : []));
  return found.length === 0 ? undefined : `says of ${found.join(', ')} what its rows do not`;
}

const isCounted = (counts: PlanCounts, rows: readonly PlanRow[]): boolean =>
  counts.new === rows.filter(isNew).length &&
  counts.placed + counts.in_doubt === rows.filter(({ placed }) => placed !== null).length &&
  counts.new + counts.placed + counts.in_doubt + counts.left_out === rows.length;

/** Formats row numbers as `--rows` accepts them, ascending: `2-501, 517`. Pure. */
export function rangesText(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const ranges: [first: number, last: number][] = [];
  for (const number of sorted) {
    const last = ranges.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
}

/** Formats `row 3`, or `rows 2-501, 517`. */
export const rowsNamed = (numbers: readonly number[]): string =>
  `${new Set(numbers).size === 1 ? 'row' : 'rows'} ${rangesText(numbers)}`;

/**
 * Plan file format. The file is one JSON object. It starts with a SHA-256 of the whole file, computed while zeros stand
 * in place of the hash. The hash detects any changed byte, even in number formatting or line breaks. Each row has its
 * own line and its own checksum, which shows which rows were altered.
 */
const begin = '{"sha256":"';
const hashAt = begin.length;
const hashEnd = hashAt + 64;
const unhashed = '0'.repeat(64);

const rowBegin = '{"checksum":"';
const checksumLength = 16;

/** Rows per chunk of a plan. */
const rowsAtOnce = 500;

/** Serializes a plan to the bytes of its file, in chunks, so that its text is never in memory as a whole. Pure. */
export function serializePlan({ rows, ...head }: PlanDraft): {
  readonly chunks: readonly Buffer[];
  readonly sha256: string;
} {
  const fields = Object.entries(head).map(([name, value]) => `${JSON.stringify(name)}:${written(value)}`);
  const first = Buffer.from(`${begin}${unhashed}",\n${fields.join(',\n')},\n"rows":[\n`);
  const chunks = [first];
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const lines = rows.slice(from, from + rowsAtOnce).map(rowLine);
    chunks.push(Buffer.from(`${from === 0 ? '' : ',\n'}${lines.join(',\n')}`));
  }
  chunks.push(Buffer.from('\n]}\n'));
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  const sha256 = hash.digest('hex');
  first.write(sha256, hashAt, 'latin1');
  return { chunks, sha256 };
}

function rowLine(row: PlanDraft['rows'][number]): string {
  const rest = `",${JSON.stringify(row).slice(1)}`;
  return `${rowBegin}${checksumOf(rest)}${rest}`;
}

/** Puts each record of a list on its own line, so that plans are readable and diffable. */
const written = (value: unknown): string =>
  Array.isArray(value) && value.some((item) => typeof item === 'object')
    ? `[\n${value.map((item) => JSON.stringify(item)).join(',\n')}\n]`
    : JSON.stringify(value);

const checksumOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, checksumLength);

/** `whole`: the file is unmodified. `altered`: some bytes have changed. `none`: the file is not a plan at all. */
type IntegrityState = 'whole' | 'altered' | 'none';

/** Verifies the hash of a plan file. Pure. */
export function integrityOf(bytes: Buffer): IntegrityState {
  const head = bytes.toString('latin1', 0, 200);
  const stored = head.slice(hashAt, hashEnd);
  if (head.startsWith(begin) && /^[0-9a-f]{64}$/.test(stored)) {
    const hash = createHash('sha256')
      .update(bytes.subarray(0, hashAt))
      .update(unhashed)
      .update(bytes.subarray(hashEnd))
      .digest('hex');
    if (hash === stored) return 'whole';
  }
  return head.includes('"sha256":"') || head.includes('"plan":') ? 'altered' : 'none';
}

/** The hash by which a plan at this path was approved; undefined if there is no unmodified plan. */
export async function hashOfPlan(path: string): Promise<string | undefined> {
  const bytes = await readPlanFile(path).catch(() => undefined);
  return bytes && integrityOf(bytes) === 'whole' ? bytes.toString('latin1', hashAt, hashEnd) : undefined;
}

/** Numbers of the rows whose checksum is wrong, as far as the lines can be parsed. Pure. */
export function alteredRows(bytes: Buffer): number[] {
  const lines = bytes.toString('utf8').split('\n');
  const first = lines.indexOf('"rows":[') + 1;
  if (first === 0) return [];
  return lines.slice(first).flatMap((line, index) => {
    if (line.startsWith(']}') || line.trim() === '') return [];
    const row = line.replace(/,$/, '');
    const at = rowBegin.length;
    const isWhole =
      row.startsWith(rowBegin) &&
      row.slice(at, at + checksumLength) === checksumOf(row.slice(at + checksumLength));
    if (isWhole) return [];
    const number = Number(/"row":(\d{1,9}),/.exec(line)?.[1]);
    return Number.isSafeInteger(number) ? [number] : [index + 2];
  });
}

/** Lifetime of a plan, in ms. */
export const planLifeMs = 24 * 3600 * 1000;
