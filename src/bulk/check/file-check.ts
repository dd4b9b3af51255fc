import { createHash } from 'node:crypto';
import type { BulkIssue } from '../../api/bulk-row.ts';
import { isObject } from '../../api/json.ts';
import type { Output } from '../../api/outputs/index.ts';
import { countText } from '../../format/counts.ts';
import { ErrandError, exitCodes, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { checkOneReading } from '../csv/amounts.ts';
import { readingLines, referenceLines } from '../csv/shop-export-quirks.ts';
import { type FileRow, RowKeys, type RowsOptions } from '../rows.ts';
import {
  type Batch,
  batchesAgain,
  batchesOf,
  batchIn,
  defaultBatchRows,
  serializeBatch,
} from '../upload/batches.ts';
import { type LeftOutRow, noOrderCode, type UploadFileRow, writtenCells } from '../upload/file-rows.ts';
import type { Source, Spare } from '../upload/source.ts';
import { checkFile, emptyTally, type Part, type Shard, type ShownIssue, shardLine } from './check.ts';
import { IssueGroups, savingIssues } from './issues.ts';
import { farLines } from './outliers.ts';
import { type Checked, checkAtService } from './service-check.ts';
import { countLine, isShort, type Spend, spendLine } from './spend.ts';

export interface Scope {
  /** Whether to check rows only locally, without the service. */
  readonly local: boolean;
  /** Id of the run, which seeds the keys of rows. */
  readonly run?: string | undefined;
  /** Only this shard's valid rows are checked with the service and uploaded. */
  readonly shard?: Shard | undefined;
  /** Checks rows with the service. By default, this process calls the service itself. */
  readonly checkRows?: ((name: string, batches: AsyncIterable<Batch>) => AsyncIterable<Checked>) | undefined;
  /** Opens storage for the rows that the service has checked, so that the table need not be parsed again. */
  readonly spare?: (() => Promise<Spare>) | undefined;
  /** Receives the rows that can be uploaded, to collect warnings about them. */
  readonly warnings?: { add(batch: Batch): void; addKey(key: string): void } | undefined;
}

/** Maximum number of skipped rows that are named when the rest of a file is uploaded. */
const maxLeftOut = 10;

/**
 * One validation pass over a file. The pass streams the file's issues. Its totals are valid once `issues()` is drained.
 */
export class FileCheck {
  readonly #textWarnings = new IssueGroups();
  readonly tally = emptyTally((issue) => this.#textWarnings.add([issue]));
  /** Numbers of the rows that the service refused. */
  readonly #refused = new RowNumbers();
  /** The service's first message about each row that it refuses, by row number. */
  readonly #refusals = new Map<number, string>();
  #isRefused = false;
  #saved: SavedRows | undefined;
  /** Numbers of the first rows that cannot be uploaded, as a spreadsheet counts rows. */
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

  /** Streams the issues in chunks as they are found. @throws UsageError for a file without rows. */
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
      // Print these lines only for people. A program expects nothing on stderr except the error, as JSON.
      if (this.#context.output.format === 'table')
        for (const line of referenceLines(tally.readings)) this.#context.note(line);
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

  async *#atService(report: (rows: number) => void): AsyncGenerator<readonly ShownIssue[]> {
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
      for (const issue of checked.issues)
        if (!this.#refusals.has(issue.row)) this.#refusals.set(issue.row, issueText(issue));
      this.#isRefused ||= checked.refused.length > 0;
      this.#scope.warnings?.add(this.#withoutRefused(checked.batch));
      tally.invalid += checked.refused.length;
      tally.orders -= checked.refused.length;
      tally.issues += checked.issues.length;
      report(rows);
      yield this.#leavingOut(checked.issues);
    }
  }

  #leavingOut(issues: readonly ShownIssue[]): readonly ShownIssue[] {
    for (const { row } of issues) if (this.leftOut.size < maxLeftOut) this.leftOut.add(row);
    return issues;
  }

  /**
   * Collects the warnings in a separate pass. Normally, the pass for the service collects them, but a local check skips
   * that pass.
   */
  async #show(): Promise<void> {
    const { warnings } = this.#scope;
    if (warnings) for await (const batch of this.#batches()) warnings.add(batch);
  }

  /** Rows for the service to check. If there is spare storage, each row is saved there before the service checks it. */
  async #keeping(): Promise<AsyncGenerator<Batch>> {
    const { spare } = this.#scope;
    if (!spare) return this.#batches();
    this.#saved = new SavedRows(await spare(), defaultBatchRows);
    return this.#saved.keeping(this.valid(), this.#run);
  }

  #batches(size = defaultBatchRows): AsyncGenerator<Batch> {
    return batchesOf(this.valid(), new RowKeys(this.#run), size);
  }

  get #run(): string {
    return this.#scope.run ?? '';
  }

  #withoutRefused(batch: Batch): Batch {
    const { rows, numbers } = batch;
    const isIn = (_: unknown, index: number): boolean => !this.#refused.has(numbers[index] ?? 0);
    return { ...batch, rows: rows.filter(isIn), numbers: numbers.filter(isIn) };
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

  /** Warnings about texts that parcels show, one per line. Valid once `issues()` is drained. */
  textLines(): string[] {
    return this.#textWarnings.lines(shownKinds, (count) => `… and ${countText(count)} more`);
  }

  /**
   * Issues with the file as a whole, such as a wallet that cannot cover the total cost. Valid once the rows are
   * checked.
   */
  wholeIssues(): Output<'BulkIssue'>[] {
    return isShort(this.spend) ? [{ row: null, column: '', value: '', message: spendLine(this.spend) }] : [];
  }

  /** Whether the shard has no valid row, because the file is small or has many shards. */
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
    const { shard, warnings } = this.#scope;
    return shard && { shard, run: this.#run, onElsewhere: warnings && ((key) => warnings.addKey(key)) };
  }

  /** Uploadable rows in batches of `size`, each row with its key. */
  batches(size: number): AsyncGenerator<Batch> {
    return this.#whole?.batches(size) ?? this.#batches(size);
  }

  /** Fingerprint of the upload, derived from its row keys. */
  async fingerprint(): Promise<string> {
    if (this.#whole) return this.#whole.fingerprint();
    const fingerprint = new Fingerprint();
    const keys = new RowKeys(this.#run);
    for await (const rows of this.valid()) for (const row of rows) fingerprint.add(keys.key(row));
    return fingerprint.digest();
  }

  /**
   * Saved rows; undefined if any row was refused. A refused row can make the saved keys of later rows wrong, because a
   * key depends on the number of equal rows above its row.
   */
  get #whole(): SavedRows | undefined {
    return this.#isRefused ? undefined : this.#saved;
  }

  /** Uploadable rows: they are valid locally, and the service has not refused them. */
  async *valid(): AsyncGenerator<readonly FileRow[]> {
    const read = checkFile(this.#source.chunks(), this.#options, emptyTally(), this.#part);
    for await (const { valid } of read) yield valid.filter(({ number }) => !this.#refused.has(number));
  }

  /**
   * Every row of the file, in order: the rows to upload, and each left-out row with the reason. If the file is divided
   * into shards, only the first shard includes invalid rows and rows that order nothing.
   */
  async *rows(): AsyncGenerator<readonly UploadFileRow[]> {
    const { shard } = this.#scope;
    const continuations: UploadFileRow[] = [];
    const onContinuation: RowsOptions['onContinuation'] = (row) =>
      continuations.push(fileRowOf(row, { why: noOrderCode, reason: noOrder }));
    const read = checkFile(
      this.#source.chunks(),
      { ...this.#options, onContinuation },
      emptyTally(),
      this.#part,
    );
    const isMine = shard === undefined || shard.part === 1;
    for await (const { valid, invalid } of read) {
      const rows = valid.map((row) => fileRowOf(row, this.#refusalOf(row)));
      const others = invalid.map((row) => fileRowOf(row, invalidRow(row.issues.map(issueText).join('; '))));
      const left = isMine ? [...others, ...continuations] : [];
      continuations.length = 0;
      yield [...rows, ...left].sort((one, other) => one.number - other.number);
    }
    if (isMine) yield continuations;
  }

  #refusalOf({ number }: FileRow): LeftOutRow | undefined {
    return this.#refused.has(number)
      ? invalidRow(this.#refusals.get(number) ?? 'the service refuses it')
      : undefined;
  }
}

const noOrder = 'has no product, price and address';

const invalidRow = (reason: string): LeftOutRow => ({ why: 'invalid', reason });

const issueText = ({ column, value, message }: BulkIssue): string =>
  [column, value === '' ? '' : JSON.stringify(value), message].filter((part) => part !== '').join(' ');

const fileRowOf = (
  { number, plan, cells, written = cells }: Pick<FileRow, 'number' | 'plan' | 'cells'> & Partial<FileRow>,
  leftOut?: LeftOutRow,
): UploadFileRow => ({
  ...{ number, headings: plan.headings, fileHeadings: plan.fileHeadings, leftOut },
  cells: plan.headings.map((_, index) => cells[index] ?? ''),
  written: writtenCells(plan, cells, written),
});

/**
 * Validated rows, saved in batches with their keys. Reading the saved rows takes a tenth of the time of parsing and
 * checking the table again. Holds one batch in memory.
 */
export class SavedRows {
  readonly #spare: Spare;
  readonly #size: number;
  readonly #fingerprint = new Fingerprint();

  /** @param size is the number of rows per batch. */
  constructor(spare: Spare, size: number) {
    this.#spare = spare;
    this.#size = size;
  }

  /** Saves each batch before yielding it. @param run seeds the keys. @throws StorageError. */
  async *keeping(rows: AsyncIterable<readonly FileRow[]>, run: string): AsyncGenerator<Batch> {
    const keys = new RowKeys(run, (key) => this.#fingerprint.add(key));
    for await (const batch of batchesOf(rows, keys, this.#size)) {
      await this.#spare.add(Buffer.from(JSON.stringify(serializeBatch(batch))));
      yield batch;
    }
  }

  /** Fingerprint of the saved rows. */
  fingerprint(): string {
    return this.#fingerprint.digest();
  }

  /** @param size is the number of rows per batch. @throws StorageError if the stored rows are corrupted. */
  batches(size: number): AsyncGenerator<Batch> {
    return size === this.#size ? this.#read() : batchesAgain(this.#read(), size);
  }

  async *#read(): AsyncGenerator<Batch> {
    for await (const block of this.#spare.read()) {
      const saved: unknown = JSON.parse(block.toString());
      if (isObject(saved)) yield batchIn(saved);
    }
  }
}

/** Set of row numbers, stored as bits so that a million numbers fit in 125 kB. */
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

/** Maximum number of error kinds shown when a file is refused. */
const shownKinds = 10;

/** Validates the whole file, locally and with the service. @throws ErrandError if it cannot be uploaded as is. */
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
    'run' | 'warnings' | 'shard' | 'checkRows' | 'spare'
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
  const [unnamed] = tally.unnamed;
  if (isNone || holding !== undefined || unnamed !== undefined || (tally.invalid > 0 && !skipInvalid)) {
    throw new ErrandError('ended_badly', `${countLine(valid, tally.rows)}; nothing was sent`, {
      outcome: 'not_sent',
      details: { rows: tally.rows, invalid: tally.invalid, errors: tally.issues },
      hint: hintFor({ isNone, holding, isUnnamed: unnamed !== undefined }),
      next: [{ command: validate, when: 'to list every error' }],
    });
  }
  return check;
}

function hintFor({
  isNone,
  holding,
  isUnnamed,
}: {
  readonly isNone: boolean;
  readonly holding: number | undefined;
  readonly isUnnamed: boolean;
}): string {
  if (holding !== undefined)
    return `Correct the quotes of row ${holding} first: --skip-invalid leaves out no row that may hold others.`;
  if (isUnnamed)
    return 'Give each row a reference of its own: --skip-invalid leaves out no row for its reference.';
  return isNone
    ? 'Correct them; there is no valid row to upload.'
    : 'Correct them, or upload the valid ones alone with --skip-invalid.';
}

/** Fingerprint of an upload, computed from the keys of its rows in order. */
export class Fingerprint {
  readonly #hash = createHash('sha256');

  add(key: string): void {
    this.#hash.update(`${JSON.stringify(key)}\n`);
  }

  /** Hash of all keys so far, in hexadecimal. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}

export function fingerprintOf(keys: Iterable<string>): string {
  const fingerprint = new Fingerprint();
  for (const key of keys) fingerprint.add(key);
  return fingerprint.digest();
}
