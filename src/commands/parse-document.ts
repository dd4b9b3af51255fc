import { isScalar, Lexer, Parser, parseDocument as parseYaml, visit, type YAMLParseError } from 'yaml';
import { UsageError } from '../errors.ts';

/** Levels; a record has five. */
const deepest = 100;

/**
 * JSON or YAML text to a value. Refused: a key given twice, deep nesting, what refers to itself, and a decimal number under one of
 * `centFields`.
 * @throws UsageError naming the document, the line and what is wrong.
 */
export function parseDocument(
  name: string,
  text: string,
  isJson: boolean,
  centFields: readonly string[],
): unknown {
  checkDepth(name, text);
  const document = parseYaml(text, { uniqueKeys: true, prettyErrors: true });
  const [error] = document.errors;
  if (error) throw broken(name, text, error);
  visit(document, {
    Pair(_, pair) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      const source = isScalar(pair.value) ? pair.value.source : undefined;
      if (!centFields.includes(key) || source === undefined || /^[+-]?\d+$/.test(source)) return;
      if (/^[+-]?[\d.,]+(e[+-]?\d+)?$/i.test(source)) throw decimalCents(name, key, source);
    },
  });
  if (isJson) return JSON.parse(text);
  return plainValue(name, () => document.toJS({ maxAliasCount: 100 }));
}

/** What reads the text after this recurses, and where the stack ends V8 may end the process. This does not. */
function checkDepth(name: string, text: string): void {
  const parser = new Parser();
  let line = 1;
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > deepest) {
      throw new UsageError(`${name}, line ${line}: it is nested too deeply; ${deepest} levels are the most`);
    }
    line += lexeme.split('\n').length - 1;
  }
}

/** What people can act on, in place of words for whoever calls the parser. */
const reasons: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here; write one',
};

function broken(name: string, text: string, error: YAMLParseError): UsageError {
  const line = error.linePos?.[0].line;
  const plain = error.message.split('\n', 1)[0]?.replace(/ at line \d+, column \d+:?$/, '');
  const reason = error.code === 'DUPLICATE_KEY' ? twice(text, error.pos[0]) : (reasons[error.code] ?? plain);
  return new UsageError(`${name}${line === undefined ? '' : `, line ${line}`}: ${reason}`, { cause: error });
}

function twice(text: string, at: number): string {
  const [, quoted, bare] = /^(?:"([^"\n]{1,80})"|([^\s:,{}"]{1,80}))/.exec(text.slice(at, at + 100)) ?? [];
  const key = quoted ?? bare;
  return key === undefined ? 'a key is given twice' : `"${key}" is given twice`;
}

/** YAML's aliases can stand for more than memory holds, for nothing, and for what they are part of. */
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

function decimalCents(name: string, key: string, source: string): UsageError {
  const value = Number(source.replace(',', '.'));
  return new UsageError(
    `${name}: ${key} is ${source}, and files carry integer cents: write ${Math.round(value * 100)} if it is meant in currency units, ${Math.round(value)} if in cents`,
  );
}
