import type { AnyResponse } from '../../http/client.ts';
import { UsageError } from '../../platform/errors.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import type { Context } from '../../run/context.ts';
import { readBytes } from '../../run/read-document.ts';

/** Maximum size, in bytes, of a body and of a field that is read from a file. */
const largest = 64 * 1024 * 1024;
const bound = { bytes: largest, holds: 'the body of a request' };

interface Given {
  readonly rawField?: readonly string[] | undefined;
  readonly field?: readonly string[] | undefined;
  readonly bodyFrom?: string | undefined;
}

interface Payload {
  readonly query: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer | undefined;
}

/** Whether the flags carry data, which makes POST the default method. */
export const sendsSomething = ({ rawField = [], field = [], bodyFrom }: Given): boolean =>
  rawField.length > 0 || field.length > 0 || bodyFrom !== undefined;

/**
 * Sends fields as a JSON body. Sends them as query parameters instead if the request is a read, or if `--input` gives
 * the body.
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

/**
 * Determines the type of a `-F` value. Only whole numbers in canonical form become numbers, so a postal code with a
 * leading zero stays text.
 */
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

/**
 * Converts fields to query parameters, repeating the name for a list. @throws UsageError for an object, which a query
 * cannot hold.
 */
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

export type FieldValue = string | number | boolean | null | FieldValue[] | Fields;
interface Fields {
  [name: string]: FieldValue;
}

const maxDepth = 32;

/**
 * Folds `a=1`, `a[b]=1`, `a[]=1` and `a[][b]=1` into one object. Named brackets open an object, and empty brackets open
 * a list. If the list's last object already has a field of that name, the field starts the next object. Pure.
 * @throws UsageError naming a malformed field, or one that conflicts with an earlier field.
 */
export function collectFields(pairs: readonly (readonly [string, FieldValue])[]): Fields {
  const fields = emptyFields();
  for (const [key, value] of pairs) setField(fields, keyParts(key), value, key);
  return fields;
}

/** Splits `key=value`; a bare key must end in `[]` and means an empty list. @throws UsageError naming the flag. */
export function splitField(flag: string, text: string): { readonly key: string; readonly value?: string } {
  const at = text.indexOf('=');
  if (at > 0) return { key: text.slice(0, at), value: text.slice(at + 1) };
  if (at < 0 && text.length > 2 && text.endsWith('[]')) return { key: text };
  throw new UsageError(`${flag} takes key=value, key[sub]=value or key[]=value, not "${text}"`);
}

/** The object has no prototype, so a field may have any name. */
const emptyFields = (): Fields => Object.create(null);

/** Splits `a[b][]` into `a`, `b` and the empty name. */
function keyParts(key: string): string[] {
  const [, name, brackets = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(key) ?? [];
  if (name === undefined) throw new UsageError(`the field "${key}" is not a name followed by [brackets]`);
  const parts = [name, ...Array.from(brackets.matchAll(/\[([^[\]]*)\]/g), ([, part = '']) => part)];
  if (parts.length > maxDepth)
    throw new UsageError(`the field "${name}" goes deeper than ${maxDepth} levels`);
  return parts;
}

function setField(fields: Fields, parts: readonly string[], value: FieldValue, key: string): void {
  const [name = '', next, ...rest] = parts;
  const here = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (next === undefined) {
    if (here !== undefined) throw new UsageError(`the field "${key}" is given twice`);
    fields[name] = value;
  } else if (next === '') {
    if (here !== undefined && !Array.isArray(here)) throw clash(key, name, 'list');
    const list: FieldValue[] = here ?? [];
    fields[name] = list;
    append(list, rest, value, key);
  } else {
    if (here !== undefined && !isFields(here)) throw clash(key, name, 'object');
    const inner = here ?? emptyFields();
    fields[name] = inner;
    setField(inner, [next, ...rest], value, key);
  }
}

function append(list: FieldValue[], parts: readonly string[], value: FieldValue, key: string): void {
  const [name] = parts;
  if (name === undefined) {
    if (value !== emptyList) list.push(value);
    return;
  }
  if (name === '')
    throw new UsageError(`the field "${key}" is a list of lists, which --input alone can give`);
  const last = list.at(-1);
  const inner = last !== undefined && isFields(last) && !isTaken(last, parts) ? last : emptyFields();
  if (inner !== last) list.push(inner);
  setField(inner, parts, value, key);
}

/** Value of `key[]` without `=`: an empty list. */
export const emptyList: FieldValue[] = [];

/** Whether the last object of a list already has this field. If so, the field starts a new object. */
function isTaken(fields: Fields, [name = '', next, ...rest]: readonly string[]): boolean {
  if (!Object.hasOwn(fields, name)) return false;
  const here = fields[name];
  if (next === undefined || here === undefined || !isFields(here)) return next !== '';
  return isTaken(here, [next, ...rest]);
}

const isFields = (value: FieldValue): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const clash = (key: string, name: string, kind: string): UsageError =>
  new UsageError(`the field "${key}" makes "${name}" a ${kind}, and another field makes it something else`);

/**
 * Parses `Name: value` lines into headers with lowercase names. The values of a repeated header are joined as a list.
 * The client validates names and values. @throws UsageError for a malformed header, or a credential passed by hand.
 */
export function readHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, given = '', value = ''] = /^([^:]*):(.*)$/s.exec(line) ?? [];
    const name = given.trim().toLowerCase();
    if (name === '') throw new UsageError("-H takes 'Name: value'");
    if (name === 'authorization') throw byHand();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value.trim() : `${before}, ${value.trim()}`);
  }
  return Object.fromEntries(headers);
}

/** Refuse a key here, because it would end up in the shell history and in the list of processes. */
const byHand = (): UsageError =>
  new UsageError('-H does not take an Authorization header: everyone on this machine could read the key', {
    hint: 'Set ERRAND_API_KEY, or store the key from stdin with `errand auth token`; it is sent by itself.',
    next: [{ command: 'errand auth status', when: 'to see which key is used' }],
  });

/** Prints the status and headers of a response on stderr, because stdout is only for data. Secrets are redacted. */
export function reportHead(
  context: Context,
  { status, headers }: Pick<AnyResponse, 'status' | 'headers'>,
): void {
  context.note(`HTTP ${status}`);
  for (const [name, value] of Object.entries(redactor.headers(headers))) context.note(`${name}: ${value}`);
}
