import { isScalar, parseDocument as parseYaml, visit } from 'yaml';
import { UsageError } from '../errors.ts';

/**
 * JSON or YAML text to a value. Refused: a key given twice, and a decimal number under one of `centFields`.
 * @throws UsageError naming the document and what is wrong.
 */
export function parseDocument(
  name: string,
  text: string,
  isJson: boolean,
  centFields: readonly string[],
): unknown {
  const document = parseYaml(text, { uniqueKeys: true, prettyErrors: true });
  const [error] = document.errors;
  if (error) throw new UsageError(`${name}: ${error.message.split('\n')[0]}`, { cause: error });
  visit(document, {
    Pair(_, pair) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      const source = isScalar(pair.value) ? pair.value.source : undefined;
      if (!centFields.includes(key) || source === undefined || /^[+-]?\d+$/.test(source)) return;
      if (/^[+-]?[\d.,]+(e[+-]?\d+)?$/i.test(source)) throw decimalCents(name, key, source);
    },
  });
  return isJson ? JSON.parse(text) : document.toJS({ maxAliasCount: 100 });
}

function decimalCents(name: string, key: string, source: string): UsageError {
  const value = Number(source.replace(',', '.'));
  return new UsageError(
    `${name}: ${key} is ${source}, and files carry integer cents: write ${Math.round(value * 100)} if it is meant in currency units, ${Math.round(value)} if in cents`,
  );
}
