import { UsageError } from '../../platform/errors.ts';

export type FieldValue = string | number | boolean | null | FieldValue[] | Fields;
export interface Fields {
  [name: string]: FieldValue;
}

const deepest = 32;

/**
 * `a=1`, `a[b]=1`, `a[]=1` and `a[][b]=1` as one object: brackets with a name open an object, empty ones a list. A name
 * that the last object of a list has already begins the next one. Pure.
 * @throws UsageError naming the field that is none, or that says something else than one before it.
 */
export function collectFields(pairs: readonly (readonly [string, FieldValue])[]): Fields {
  const fields = emptyFields();
  for (const [key, value] of pairs) place(fields, keyParts(key), value, key);
  return fields;
}

/** Splits `key=value`; a key alone ends with `[]` and stands for an empty list. @throws UsageError naming the flag. */
export function splitField(flag: string, text: string): { readonly key: string; readonly value?: string } {
  const at = text.indexOf('=');
  if (at > 0) return { key: text.slice(0, at), value: text.slice(at + 1) };
  if (at < 0 && text.length > 2 && text.endsWith('[]')) return { key: text };
  throw new UsageError(`${flag} takes key=value, key[sub]=value or key[]=value, not "${text}"`);
}

/** No prototype: a field may have any name. */
const emptyFields = (): Fields => Object.create(null);

/** `a[b][]` to `a`, `b` and the empty name. */
function keyParts(key: string): string[] {
  const [, name, brackets = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(key) ?? [];
  if (name === undefined) throw new UsageError(`the field "${key}" is not a name followed by [brackets]`);
  const parts = [name, ...Array.from(brackets.matchAll(/\[([^[\]]*)\]/g), ([, part = '']) => part)];
  if (parts.length > deepest) throw new UsageError(`the field "${name}" goes deeper than ${deepest} levels`);
  return parts;
}

function place(fields: Fields, parts: readonly string[], value: FieldValue, key: string): void {
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
    place(inner, [next, ...rest], value, key);
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
  place(inner, parts, value, key);
}

/** What `key[]` without a value adds: nothing, but the list is there. */
export const emptyList: FieldValue[] = [];

/** Whether an object has this value already, so that another of the kind begins. */
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
