import {
  type Document,
  isAlias,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  parseDocument as parseYaml,
  type Scalar,
  visit,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';
import { UsageError } from '../platform/errors.ts';

/** Nesting depth of a record's own fields. The document and its top-level map count as levels. */
const recordDepth = 2;

/** Maximum nesting depth. A record needs only five levels. */
const maxDepth = 100;

/**
 * Parses JSON or YAML. Rejects duplicate keys, deep nesting, references to itself, and numbers that are not written in
 * decimal digits. For fields in `centFields`, also rejects decimal points. @throws UsageError naming the document, the
 * line and the problem.
 */
export function parseDocument(
  name: string,
  text: string,
  isJson: boolean,
  centFields: readonly string[],
): unknown {
  const document = readYaml(name, text);
  visit(document, {
    Pair(_, pair, path) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      if (path.length === recordDepth && centFields.includes(key))
        checkCents(name, key, isAlias(pair.value) ? pair.value.resolve(document) : pair.value);
    },
    Scalar(key, scalar, path) {
      if (!isJson && key !== 'key') checkDecimal(name, text, scalar, fieldName(key, path));
    },
  });
  if (isJson) return JSON.parse(text);
  return plainValue(name, () => document.toJS({ maxAliasCount: 100 }));
}

/**
 * Parses YAML into a tree with source positions. Rejects duplicate keys, amounts that a comma splits, deep nesting and
 * YAML 1.1. @param remedy tells the user how to write an amount that has a comma; by default, in cents. @param
 * hasColumns makes errors name the column as well as the line. @throws UsageError naming the document, the line and the
 * problem.
 */
export function readYaml(
  name: string,
  text: string,
  remedy: CommaRemedy = centsWithoutComma,
  hasColumns = false,
): Document.Parsed {
  checkDepth(name, text);
  // Disable the library's own check. It compares every pair of keys, so a map of 100,000 keys would take minutes and
  // could not be interrupted.
  const document = parseYaml(text, { uniqueKeys: false, prettyErrors: true });
  const [error] = document.errors;
  if (error) throw broken(name, error, hasColumns);
  if (document.directives?.yaml.version === '1.1')
    throw new UsageError(
      `${name} says %YAML 1.1, which reads 010 as 8; errand reads YAML 1.2: take the %YAML line out`,
    );
  visit(document, {
    Map(_, map) {
      const cut = map.flow ? cutAmount(map.items) : undefined;
      if (cut) throw commaWithin(name, text, cut, `within braces ${remedy(cut.amount)}`);
      const again = repeatedKey(map);
      if (again !== undefined) throw givenTwice(name, text, again, hasColumns);
    },
    Seq(_, { flow, items }) {
      // In brackets, `1, 100` is two numbers. So an entry counts as a split amount only if it has a currency.
      const cut = flow
        ? cutAmount(
            items.map((value) => ({ key: value, value })),
            true,
          )
        : undefined;
      if (cut) throw commaWithin(name, text, cut, `within brackets ${remedy(cut.amount)}`);
    },
  });
  return document;
}

/** Checks nesting without recursion. The parser itself recurses, and a stack overflow may abort the V8 process. */
function checkDepth(name: string, text: string): void {
  const parser = new Parser();
  let line = 1;
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > maxDepth) {
      throw new UsageError(`${name}, line ${line}: it is nested too deeply; ${maxDepth} levels are the most`);
    }
    line += lexeme.split('\n').length - 1;
  }
}

/** Messages that tell people what to do, in place of the parser's own messages. */
const reasons: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here; write one',
};

function broken(name: string, error: YAMLParseError, hasColumns: boolean): UsageError {
  const { line, col } = error.linePos?.[0] ?? {};
  const column = hasColumns && col !== undefined ? `, column ${col}` : '';
  const plain = error.message.split('\n', 1)[0]?.replace(/ at line \d+, column \d+:?$/, '');
  const reason = reasons[error.code] ?? plain;
  return new UsageError(`${name}${line === undefined ? '' : `, line ${line}${column}`}: ${reason}`, {
    cause: error,
  });
}

/** Position of a repeated key in a map. Ignores keys that are not scalars, because no record has such keys. */
function repeatedKey({ items }: YAMLMap): number | undefined {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    // The keys 1 and "1" become the same field name.
    const name = String(key.value);
    if (seen.has(name)) return key.range?.[0] ?? 0;
    seen.add(name);
  }
  return undefined;
}

function givenTwice(name: string, text: string, at: number, hasColumns: boolean): UsageError {
  const lines = text.slice(0, at).split('\n');
  const column = hasColumns ? `, column ${(lines.at(-1) ?? '').length + 1}` : '';
  const [, quoted, bare] = /^(?:"([^"\n]{1,80})"|([^\s:,{}"]{1,80}))/.exec(text.slice(at, at + 100)) ?? [];
  const key = quoted ?? bare;
  return new UsageError(
    `${name}, line ${lines.length}${column}: ${key === undefined ? 'a key is given twice' : `"${key}" is given twice`}`,
  );
}

/**
 * Converts a document to plain values. This may fail, because YAML aliases can expand beyond memory, be undefined, or
 * refer to themselves.
 */
function plainValue(name: string, read: () => unknown): unknown {
  try {
    const value = read();
    JSON.stringify(value);
    return value;
  } catch (cause) {
    const what = cause instanceof ReferenceError ? cause.message : '';
    const reason = what.startsWith('Unresolved')
      ? `nothing is named for the alias *${what.split(': ').at(-1)}`
      : 'its aliases (*) stand for too much, or for themselves';
    throw new UsageError(`${name}: ${reason}; write the values out`, { cause });
  }
}

/**
 * A decimal number, with optional sign and point. It has no leading zero, because some parsers would read it as octal.
 */
const decimalForm = /^[+-]?(?:0|[1-9]\d*)(?:\.\d*)?$/;

/** Rejects hexadecimal, octal and scientific notation, because they make an amount or quantity hard to read. */
function checkDecimal(name: string, text: string, scalar: Scalar, field: string): void {
  const { value, source = '', range } = scalar;
  if (typeof value !== 'number' || decimalForm.test(source)) return;
  const line = range ? `, line ${text.slice(0, range[0]).split('\n').length}` : '';
  const what = field === '' ? 'a number is' : `${field} is`;
  throw new UsageError(
    `${name}${line}: ${what} written ${source}; write numbers in decimal digits, such as 5000, and text in quotes`,
  );
}

/** Path of a value that is under the given `ancestors`: `payment.margin.value`, `products.0.quantity`. */
function fieldName(key: unknown, ancestors: readonly unknown[]): string {
  const names = ancestors.flatMap((node, index) => {
    if (isPair(node)) return isScalar(node.key) ? [String(node.key.value)] : [];
    const child = ancestors[index + 1];
    return isSeq(node) ? [String(child === undefined ? key : node.items.indexOf(child))] : [];
  });
  return names.join('.');
}

/** Rejects an amount with a decimal point. @throws UsageError. */
export function checkCents(name: string, key: string, value: unknown): void {
  const source = isScalar(value) ? value.source : undefined;
  if (source === undefined || /^[+-]?\d+$/.test(source)) return;
  if (/^[+-]?[\d.,]+(e[+-]?\d+)?$/i.test(source)) throw decimalCents(name, key, source);
}

function decimalCents(name: string, key: string, source: string): UsageError {
  const problem = `${name}: ${key} is ${source}, and files carry integer cents`;
  const value = Number(source.replace(',', '.'));
  // Suggest no specific amount, because it is ambiguous what 1,234.50 or 1e400 means.
  if (!Number.isSafeInteger(Math.round(value * 100)))
    return new UsageError(`${problem}: write 5000 for 50.00`);
  return new UsageError(
    `${problem}: write ${Math.round(value * 100)} if it is meant in currency units, ${Math.round(value)} if in cents`,
  );
}

/** An amount that its commas split into separate entries: `{ per_month: $9,000,000 }`. */
interface CutAmount {
  readonly amount: string;
  /** Offset in the text at which the amount starts. */
  readonly at: number;
}

/** An entry in braces or brackets. In a list, the key and the value are the same. */
interface Entry {
  readonly key: unknown;
  readonly value: unknown;
}

/**
 * Finds the first split amount; undefined if there is none. @param isList requires the amount to have a currency,
 * because a list may contain plain numbers.
 */
function cutAmount(entries: readonly Entry[], isList = false): CutAmount | undefined {
  for (const [index, { value }] of entries.entries()) {
    const first = plain(value);
    if (!first || !(isList ? currencyFirst : anyDigits).test(first.source)) continue;
    const digits: string[] = [];
    for (let next = entries[index + 1]; next; next = entries[index + 1 + digits.length]) {
      const more = isList || isMissing(next.value) ? plain(next.key)?.source : undefined;
      if (more === undefined || !(isList ? rest : anyRest).test(more)) break;
      digits.push(more);
    }
    if (digits.length > 0) return { amount: [first.source, ...digits].join(','), at: first.at };
  }
  return undefined;
}

/** Tells the user how to write an amount that has a comma. */
export type CommaRemedy = (amount: string) => string;

const centsWithoutComma: CommaRemedy = (amount) =>
  /^\d{1,3}(?:,\d{3})+$/.test(amount)
    ? `write a number without commas: ${amount.replaceAll(',', '')}`
    : 'write an amount in cents, such as 900000 for $9,000.00';

function commaWithin(name: string, text: string, { amount, at }: CutAmount, remedy: string): UsageError {
  const line = text.slice(0, at).split('\n').length;
  return new UsageError(`${name}, line ${line}: the comma ends the value of ${amount}; ${remedy}`);
}

const anyDigits = /^\D{0,5}\d[\d. ]*$/;
/** Matches what follows the comma of a split amount. Digits without a colon cannot be a key of a record. */
const anyRest = /^\d[\d.]*(?: ?[^\d\s]{1,5})?$/;
const currencyFirst = /^(?:[$€£¥]|[A-Z]{3} ?)\d{1,3}(?:\.\d{3})*$/;
/** Matches three digits of thousands or two digits of cents. A currency may follow the last group. */
const rest = /^(?:\d{3}|\d{2})(?:\.\d{1,2})?(?: ?(?:[$€£¥]|[A-Z]{3}))?$/;

/** Whether an entry has no value, because there is no colon after its key. */
const isMissing = (value: unknown): boolean => value === null || (isScalar(value) && value.source === '');

/** The text of an unquoted scalar, as written. */
function plain(node: unknown): { readonly source: string; readonly at: number } | undefined {
  if (!isScalar(node) || (node.type satisfies Scalar.Type | undefined) !== 'PLAIN') return undefined;
  const { source, range } = node;
  return source === undefined || !range ? undefined : { source, at: range[0] };
}
