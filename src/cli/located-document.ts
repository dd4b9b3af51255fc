import { type Document, isAlias, isMap, isScalar, isSeq } from 'yaml';
import { parseDocument, readYaml } from '../format/parse-document.ts';

type Path = readonly (string | number)[];

/** Parsed YAML or JSON with the source location of each part. */
export interface LocatedDocument {
  readonly value: unknown;
  /**
   * Returns the one-based line of the value at a path. If the path has no value, returns the line of the nearest
   * enclosing value.
   */
  lineOf(path: Path): number;
}

/** @throws UsageError naming the document, the line and what is wrong. */
export function locatedDocument(name: string, text: string): LocatedDocument {
  const document = readYaml(name, text);
  return {
    value: parseDocument(name, text, false, []),
    lineOf: (path) => text.slice(0, offsetOf(document, path)).split('\n').length,
  };
}

function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const part of path) {
    const whole = isAlias(node) ? node.resolve(document) : node;
    if (isMap(whole)) {
      const pair = whole.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      if (!pair) break;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(whole) && whole.items[Number(part)] !== undefined) {
      node = whole.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else break;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  const range: unknown = Object(node).range;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined;
}
