import { createHash } from 'node:crypto';
import type { PlanDraft } from '../../api/schemas/plan-file.ts';

/**
 * How a plan stands in its file: one JSON object that begins with the SHA-256 over all bytes of the file, its own place filled
 * with zeros. So a byte changed anywhere is found, be it in a number's spelling or in a line break. Each row stands on a line of its
 * own, with a checksum that tells which row was changed.
 */
const begin = '{"sha256":"';
const hashAt = begin.length;
const hashEnd = hashAt + 64;
const unhashed = '0'.repeat(64);

const rowBegin = '{"checksum":"';
const checksumLength = 16;

/** The bytes of a plan's file. Pure. */
export function sealed({ rows, ...head }: PlanDraft): { readonly bytes: Buffer; readonly sha256: string } {
  const fields = Object.entries(head).map(([name, value]) => `${JSON.stringify(name)}:${written(value)}`);
  const lines = rows.map((row) => {
    const rest = `",${JSON.stringify(row).slice(1)}`;
    return `${rowBegin}${checksumOf(rest)}${rest}`;
  });
  const text = `${begin}${unhashed}",\n${fields.join(',\n')},\n"rows":[\n${lines.join(',\n')}\n]}\n`;
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  bytes.write(sha256, hashAt, 'latin1');
  return { bytes, sha256 };
}

/** A list of records has one on a line, so that a plan can be read and compared. */
const written = (value: unknown): string =>
  Array.isArray(value) && value.some((item) => typeof item === 'object')
    ? `[\n${value.map((item) => JSON.stringify(item)).join(',\n')}\n]`
    : JSON.stringify(value);

const checksumOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, checksumLength);

/** `whole`: as it was written. `none`: it was never a plan. */
export type SealState = 'whole' | 'altered' | 'none';

/** Whether the bytes of a file are those that were written. Pure. */
export function sealOf(bytes: Buffer): SealState {
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

/** The numbers of the rows whose line is not what was written, as far as the lines can be told. Pure. */
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
