import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { readBytes } from '../../run/read-bytes.ts';
import { collectFields, emptyList, type Fields, type FieldValue, splitField } from './fields.ts';

/** Bytes of a body, and of a field that comes from a file. */
const largest = 64 * 1024 * 1024;
const bound = { bytes: largest, holds: 'the body of a request' };

export interface Given {
  readonly rawField?: readonly string[] | undefined;
  readonly field?: readonly string[] | undefined;
  readonly bodyFrom?: string | undefined;
}

/** What goes with a request besides its path. */
export interface Payload {
  readonly query: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer | undefined;
}

/** Whether anything is given that makes a request without a method a POST. */
export const sendsSomething = ({ rawField = [], field = [], bodyFrom }: Given): boolean =>
  rawField.length > 0 || field.length > 0 || bodyFrom !== undefined;

/**
 * Fields go into the body as JSON; into the query of a read, and where `--input` gives the body.
 * @throws UsageError naming the flag.
 */
export async function readPayload(context: Context, method: string, given: Given): Promise<Payload> {
  const isRead = method === 'GET' || method === 'HEAD';
  const { bodyFrom } = given;
  if (isRead && bodyFrom !== undefined) throw new UsageError(`--input does not apply: ${method} has no body`);
  if (stdinReaders(given) > 1) throw new UsageError('only one of --input - and -F key=@- can read stdin');
  const fields = collectFields(await readFields(context, given));
  if (bodyFrom !== undefined) {
    return { query: queryOf(fields), body: await readBytes(context, '--input', bodyFrom, bound) };
  }
  if (isRead) return { query: queryOf(fields), body: undefined };
  const isEmpty = Object.keys(fields).length === 0;
  return { query: {}, body: isEmpty ? undefined : Buffer.from(JSON.stringify(fields)) };
}

const stdinReaders = ({ field = [], bodyFrom }: Given): number =>
  field.filter((text) => text.endsWith('=@-')).length + (bodyFrom === '-' ? 1 : 0);

async function readFields(
  context: Context,
  { rawField = [], field = [] }: Given,
): Promise<(readonly [string, FieldValue])[]> {
  const raw = rawField.map((text) => {
    const { key, value = emptyList } = splitField('-f', text);
    return [key, value] as const;
  });
  const typed: (readonly [string, FieldValue])[] = [];
  for (const text of field) {
    const { key, value } = splitField('-F', text);
    typed.push([key, value === undefined ? emptyList : await typedValue(context, key, value)]);
  }
  return [...raw, ...typed];
}

const literals: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

/** A whole number in its one spelling is a number, so that a postal code with a zero in front stays text. */
async function typedValue(context: Context, key: string, text: string): Promise<FieldValue> {
  if (Object.hasOwn(literals, text)) return literals[text] ?? null;
  if (text.startsWith('@')) return textOf(await readBytes(context, `-F ${key}`, text.slice(1), bound), key);
  if (!/^(?:0|-?[1-9]\d*)$/.test(text)) return text;
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new UsageError(`-F ${key}: ${text} is larger than JSON numbers are exact; -f sends it as text`);
}

function textOf(bytes: Buffer, key: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(`-F ${key}: the file is not UTF-8 text`, { cause });
  }
}

/** Fields as query parameters; a list is repeated. @throws UsageError for an object, which no query holds. */
function queryOf(fields: Fields): Record<string, readonly string[]> {
  const entries = Object.entries(fields).map(([name, value]): [string, string[]] => [
    name,
    (Array.isArray(value) ? value : [value]).map((one) => {
      if (typeof one !== 'object' || one === null) return one === null ? '' : String(one);
      throw new UsageError(
        `the field "${name}" goes into the query, which holds plain values and lists only`,
      );
    }),
  ]);
  return Object.fromEntries(entries);
}
