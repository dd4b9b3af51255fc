import { UsageError } from '../platform/errors.ts';
import type { Context } from './context.ts';
import { readBytes } from './read-bytes.ts';

/** Largest file or stdin that holds one record, in bytes. */
const largest = 5 * 1024 * 1024;

export interface Document {
  /** The file's name, or `stdin`; named in messages. */
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Reads one JSON or YAML object from a file, or from stdin for `-`.
 * A number with a decimal point under one of `centFields` is refused: files carry integer cents.
 * @throws UsageError naming the file, the line where there is one, and what is wrong.
 */
export async function readDocument(
  context: Context,
  flag: string,
  path: string,
  centFields: readonly string[] = [],
): Promise<Document> {
  const name = path === '-' ? 'stdin' : path;
  const bytes = await readBytes(context, flag, path, { bytes: largest, holds: 'one record' });
  const text = decode(name, bytes);
  if (text.trim() === '') throw new UsageError(`${name} is empty; ${flag} takes a JSON or YAML object`);
  const value = await parse(name, text, centFields);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${name} holds no object; ${flag} takes one JSON or YAML object`);
  }
  return { name, value: Object.fromEntries(Object.entries(value)) };
}

function decode(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(`${name} is not UTF-8 text; save it as UTF-8`, { cause });
  }
}

async function parse(name: string, text: string, centFields: readonly string[]): Promise<unknown> {
  const isJson = /\.json$/i.test(name) || text.trimStart().startsWith('{');
  if (isJson) checkJson(name, text);
  const { parseDocument } = await import('../format/parse-document.ts');
  return parseDocument(name, text, isJson, centFields);
}

function checkJson(name: string, text: string): void {
  try {
    JSON.parse(text);
  } catch (cause) {
    const at = cause instanceof Error ? / at position (\d+)/.exec(cause.message)?.[1] : undefined;
    const line = at === undefined ? '' : `, line ${text.slice(0, Number(at)).split('\n').length}`;
    throw new UsageError(
      `${name}${line} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}
