import { createHash } from 'node:crypto';
import { isObject } from '../../api/json.ts';
import type { Output } from '../../api/outputs/index.ts';
import { ErrandError, exitCodes, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { checkOneReading } from '../csv/amounts.ts';
import { readingLines } from '../csv/shop-export-quirks.ts';
import { type FileRow, RowKeys, type RowsOptions } from '../rows.ts';
import {
  type Batch,
  batchesAgain,
  batchesOf,
  batchIn,
  keptBatch,
  usualBatchRows,
} from '../upload/batches.ts';
import type { Source, Spare } from '../upload/source.ts';
import type { UploadLook } from '../upload/upload-warnings.ts';
import { checkFile, emptyTally, type Part, type Shard, type ShownIssue, shardLine } from './check.ts';
import { IssueGroups, savingIssues } from './issues.ts';
import { farLines } from './outliers.ts';
import { type Checked, checkAtService } from './service-check.ts';
import { countLine, isShort, type Spend, spendLine } from './spend.ts';

export interface Scope {
  /** Without the service. */
  readonly local: boolean;
  /** Makes the keys of the rows. */
  readonly run?: string | undefined;
  /** The part of the file whose valid rows alone are checked with the service and uploaded. */
  readonly shard?: Shard | undefined;
  /** Has the service check the rows, in place of this process alone. */
  readonly checkRows?: ((name: string, batches: AsyncIterable<Batch>) => AsyncIterable<Checked>) | undefined;
  /** Makes room for rows that the service has checked, so that they are not read again from the table. */
  readonly spare?: (() => Promise<Spare>) | undefined;
  /** Is shown the rows that can be uploaded. */
  readonly look?: Pick<UploadLook, 'add'> | undefined;
}

/** Rows that are named where a file is uploaded without them. */
const mostLeftOut = 10;

/** One check of a file: its issues as they are found, and what it comes to once they are out. */
export class FileCheck {
  readonly tally = emptyTally();
  /** Rows that the service refuses. */
  readonly #refused = new RowNumbers();
  #isRefused = false;
  #kept: KeptRows | undefined;
  /** The first rows that cannot be uploaded, as a spreadsheet numbers them. */
  readonly leftOut = new Set<number>();
  readonly spend: Spend = { estimate: 0, wallet: undefined, byInvoice: false };
  readonly #context: Context;
  readonly #source: Source;
  readonly #options: RowsOptions;
  readonly #scope: Scope;

  constructor(context: Context, source: Source, options: RowsOptions, scope: Scope) {
    this.#context = context;
    this.#source = source;
    this.#options = options;
    this.#scope = scope;
  }

  /** What is wrong, as much at a time as is found at once. @throws UsageError for a file without rows. */
  async *issues(): AsyncGenerator<readonly ShownIssue[]> {
    const { tally } = this;
    const progress = await this.#context.progress({
      label: 'validating',
      unit: 'rows',
      now: this.#context.clock.monotonic,
    });
    try {
      for await (const { issues } of this.#file()) {
        progress.update(tally.rows);
        if (issues.length > 0) yield this.#leavingOut(issues);
        this.#context.signal.throwIfAborted();
      }
      for (const line of readingLines(tally.readings)) this.#context.note(line);
      checkOneReading(this.#context, this.#options.name, tally.prices, tally.invalid);
      if (tally.rows === 0) throw new UsageError(`${this.#options.name} has no row under its headings`);
      this.spend.estimate = tally.ceilings;
      if (tally.orders === 0) return;
      if (this.#scope.local) return await this.#show();
      yield* this.#atService((rows) => progress.update(rows, 'checking with the service'));
    } finally {
      progress.end();
    }
  }

  async *#atService(tell: (rows: number) => void): AsyncGenerator<readonly ShownIssue[]> {
    const { spend, tally } = this;
    spend.estimate = 0;
    let rows = 0;
    const { checkRows = (name, batches) => checkAtService(this.#context, name, batches) } = this.#scope;
    for await (const checked of checkRows(this.#options.name, await this.#keeping())) {
      rows += checked.rows;
      spend.estimate += checked.estimate;
      spend.wallet = checked.wallet;
      spend.byInvoice = checked.byInvoice;
      for (const row of checked.refused) this.#refused.add(row);
      this.#isRefused ||= checked.refused.length > 0;
      this.#scope.look?.add(this.#withoutRefused(checked.batch), tally.ownKeys > 0);
      tally.invalid += checked.refused.length;
      tally.orders -= checked.refused.length;
      tally.issues += checked.issues.length;
      tell(rows);
      yield this.#leavingOut(checked.issues);
    }
  }

  #leavingOut(issues: readonly ShownIssue[]): readonly ShownIssue[] {
    for (const { row } of issues) if (this.leftOut.size < mostLeftOut) this.leftOut.add(row);
    return issues;
  }

  /** Without the service, rows are shown in a reading of their own. */
  async #show(): Promise<void> {
    const { look } = this.#scope;
    if (look) for await (const batch of this.#batches()) look.add(batch, this.tally.ownKeys > 0);
  }

  /** The rows that the service is to check; where there is room, each is kept as it passes. */
  async #keeping(): Promise<AsyncGenerator<Batch>> {
    const { spare } = this.#scope;
    if (!spare) return this.#batches();
    this.#kept = new KeptRows(await spare(), usualBatchRows);
    return this.#kept.keeping(this.valid(), this.#run);
  }

  #batches(size = usualBatchRows): AsyncGenerator<Batch> {
    return batchesOf(this.valid(), new RowKeys(this.#run), size);
  }

  get #run(): string {
    return this.#scope.run ?? '';
  }

  #withoutRefused({ rows, numbers }: Batch): Pick<Batch, 'rows' | 'numbers'> {
    const isIn = (_: unknown, index: number): boolean => !this.#refused.has(numbers[index] ?? 0);
    return { rows: rows.filter(isIn), numbers: numbers.filter(isIn) };
  }

  hints(): string[] {
    const { tally, spend } = this;
    const { shard } = this.#scope;
    const counted = [
      countLine(tally.rows - tally.invalid, tally.rows),
      ...(shard ? [shardLine(shard, tally.orders, tally.rows)] : []),
    ];
    const wasPriced = spend.wallet !== undefined;
    if (tally.orders > 0 || wasPriced) return [...counted, spendLine(spend), ...farLines(tally.spread)];
    if (this.isEmptyShard()) return counted;
    return [
      ...counted,
      ...(this.#scope.local ? [] : ['no row passed the local check, so the service checked none']),
    ];
  }

  /** What is wrong with the file as a whole, once its rows are checked: all that they may come to cost. */
  wholeIssues(): Output<'BulkIssue'>[] {
    return isShort(this.spend) ? [{ row: null, column: '', value: '', message: spendLine(this.spend) }] : [];
  }

  /** Whether no valid row of the file fell to the shard: it is small, or there are many shards. */
  isEmptyShard(): boolean {
    const { orders, elsewhere } = this.tally;
    return orders === 0 && elsewhere > 0 && !this.#isRefused;
  }

  exitCode(): number {
    if (this.tally.invalid > 0) return exitCodes.ended_badly;
    return isShort(this.spend) ? exitCodes.payment : 0;
  }

  #file() {
    return checkFile(this.#source.chunks(), this.#options, this.tally, this.#part);
  }

  get #part(): Part | undefined {
    const { shard } = this.#scope;
    return shard && { shard, run: this.#run };
  }

  /** The rows that can be uploaded, in batches of `size`, each with its key. */
  batches(size: number): AsyncGenerator<Batch> {
    return this.#whole?.batches(size) ?? this.#batches(size);
  }

  /** Tells the upload of these rows from every other. */
  async identity(): Promise<string> {
    if (this.#whole) return this.#whole.identity();
    const identity = new Identity();
    const keys = new RowKeys(this.#run);
    for await (const rows of this.valid()) for (const row of rows) identity.add(keys.key(row));
    return identity.digest();
  }

  /** The rows that were kept, where none of them was refused: the key of a row counts the equal ones before it. */
  get #whole(): KeptRows | undefined {
    return this.#isRefused ? undefined : this.#kept;
  }

  /** The rows that can be uploaded: valid here, and not refused by the service where it checked them. */
  async *valid(): AsyncGenerator<readonly FileRow[]> {
    const read = checkFile(this.#source.chunks(), this.#options, emptyTally(), this.#part);
    for await (const { valid } of read) yield valid.filter(({ number }) => !this.#refused.has(number));
  }
}

/**
 * Rows of a table in batches, each with its key, kept as they were checked: what comes after reads them here, for a tenth
 * of what it takes to read and check the table again. A batch at a time is in memory.
 */
export class KeptRows {
  readonly #spare: Spare;
  readonly #size: number;
  readonly #identity = new Identity();

  /** @param size rows of a batch. */
  constructor(spare: Spare, size: number) {
    this.#spare = spare;
    this.#size = size;
  }

  /** Batches as they pass by, each kept before it is given. @param run makes the keys. @throws StorageError. */
  async *keeping(rows: AsyncIterable<readonly FileRow[]>, run: string): AsyncGenerator<Batch> {
    const keys = new RowKeys(run, (key) => this.#identity.add(key));
    for await (const batch of batchesOf(rows, keys, this.#size)) {
      await this.#spare.add(Buffer.from(JSON.stringify(keptBatch(batch))));
      yield batch;
    }
  }

  /** Tells the upload of the rows that were kept. */
  identity(): string {
    return this.#identity.digest();
  }

  /** @param size rows of a batch. @throws StorageError where they are not what was kept. */
  batches(size: number): AsyncGenerator<Batch> {
    return size === this.#size ? this.#read() : batchesAgain(this.#read(), size);
  }

  async *#read(): AsyncGenerator<Batch> {
    for await (const block of this.#spare.read()) {
      const kept: unknown = JSON.parse(block.toString());
      if (isObject(kept)) yield batchIn(kept);
    }
  }
}

/** A set of row numbers in one bit each, so that a million of them fit in 125 kB. */
class RowNumbers {
  #bits = new Uint8Array(1024);

  add(row: number): void {
    const byte = row >> 3;
    if (byte >= this.#bits.length) {
      const more = new Uint8Array(Math.max(byte + 1, this.#bits.length * 2));
      more.set(this.#bits);
      this.#bits = more;
    }
    this.#bits[byte] = this.#byte(byte) | (1 << (row & 7));
  }

  has(row: number): boolean {
    return (this.#byte(row >> 3) & (1 << (row & 7))) !== 0;
  }

  #byte(at: number): number {
    return this.#bits[at] ?? 0;
  }
}

/** Kinds of errors shown when a file is refused. */
const shownKinds = 10;

/** Checks the whole file, here and at the service. @throws ErrandError where it cannot be uploaded as it is. */
export async function checkedFile(
  context: Context,
  source: Source,
  options: RowsOptions,
  {
    skipInvalid,
    errors,
    validate,
    ...shown
  }: { skipInvalid: boolean; errors: string | undefined; validate: string } & Pick<
    Scope,
    'run' | 'look' | 'shard' | 'checkRows' | 'spare'
  >,
): Promise<FileCheck> {
  const check = new FileCheck(context, source, options, { local: context.previewsRequests, ...shown });
  const groups = new IssueGroups();
  try {
    for await (const found of savingIssues(context, check.issues(), errors)) groups.add(found);
  } finally {
    for (const line of groups.lines(shownKinds)) context.note(line);
  }
  const { tally } = check;
  const valid = tally.rows - tally.invalid;
  const isNone = tally.orders === 0 && !check.isEmptyShard();
  const [holding] = tally.holding;
  if (isNone || holding !== undefined || (tally.invalid > 0 && !skipInvalid)) {
    throw new ErrandError('ended_badly', `${countLine(valid, tally.rows)}; nothing was sent`, {
      outcome: 'not_sent',
      details: { rows: tally.rows, invalid: tally.invalid, errors: tally.issues },
      hint: hintFor({ isNone, holding }),
      next: [{ command: validate, when: 'to list every error' }],
    });
  }
  return check;
}

function hintFor({ isNone, holding }: { isNone: boolean; holding: number | undefined }): string {
  if (holding !== undefined)
    return `Correct the quotes of row ${holding} first: --skip-invalid leaves out no row that may hold others.`;
  return isNone
    ? 'Correct them; there is no valid row to upload.'
    : 'Correct them, or upload the valid ones alone with --skip-invalid.';
}

/** Tells an upload by the keys of its rows, in their order. */
export class Identity {
  readonly #hash = createHash('sha256');

  add(key: string): void {
    this.#hash.update(`${JSON.stringify(key)}\n`);
  }

  /** Of all keys so far, in hexadecimal. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}

export function identityOf(keys: Iterable<string>): string {
  const identity = new Identity();
  for (const key of keys) identity.add(key);
  return identity.digest();
}
