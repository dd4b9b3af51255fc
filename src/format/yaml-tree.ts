import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Scalar,
  visit,
} from 'yaml';
import { UsageError } from '../platform/errors.ts';
import { nearestWord } from '../platform/near-words.ts';
import { type CommaRemedy, readYaml } from './parse-document.ts';

/** A value of a YAML file and its position. */
export interface Location {
  readonly node: unknown;
  /** Path such as `limits.per_day`; empty for the whole file. */
  readonly path: string;
}

interface Reading {
  /** Description of the whole file, for errors: `a policy is a map: version: 1, …`. */
  readonly whole: string;
  /** Tells the user how to write an amount that has a comma. */
  readonly remedy?: CommaRemedy;
  /** Whether errors name the column as well as the line. */
  readonly hasColumns?: boolean;
}

/**
 * A YAML file as a tree of values. Each value is parsed as the type that it must have. Every error names the file and
 * the line.
 */
export class YamlTree {
  readonly root: Location;
  readonly #file: string;
  readonly #reading: Reading;
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;

  /** Parses a text as YAML. @throws UsageError naming the line if the text is not YAML. */
  constructor(file: string, text: string, reading: Reading) {
    this.#file = file;
    this.#reading = reading;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      this.#lines.addNewLine(at + 1);
    this.#lines.lineStarts.unshift(0);
    this.#document = readYaml(file, text, reading.remedy, reading.hasColumns);
    this.root = { node: this.#document.contents, path: '' };
  }

  lineOf({ node }: Location): number {
    const range = isNode(node) ? node.range : undefined;
    return range ? this.#lines.linePos(range[0]).line : 1;
  }

  /** Position of a value, for messages: `policy.yaml, line 3`. */
  positionOf(location: Location): string {
    const { node } = location;
    const column =
      this.#reading.hasColumns && isNode(node) && node.range
        ? this.#lines.linePos(node.range[0]).col
        : undefined;
    return `${this.#file}, line ${this.lineOf(location)}${column === undefined ? '' : `, column ${column}`}`;
  }

  refused(location: Location, what: string): UsageError {
    const where = this.positionOf(location);
    return new UsageError(location.path === '' ? `${where}: ${what}` : `${where}: ${location.path} ${what}`);
  }

  /**
   * The values of a map by key. @throws UsageError for a key that is not in `known`. The error suggests the nearest
   * known key.
   */
  fields<K extends string>(location: Location, known: readonly K[]): Partial<Record<K, Location>> {
    const found: Partial<Record<K, Location>> = {};
    for (const { key, value } of this.pairs(location)) {
      const name = known.find((one) => one === key.text);
      if (name === undefined) throw this.#unknown(key, known);
      found[name] = value;
    }
    return found;
  }

  /** Reads a map whose keys and values may be any texts. */
  texts(location: Location): Record<string, string> {
    return Object.fromEntries(this.pairs(location).map(({ key, value }) => [key.text, this.text(value)]));
  }

  list(location: Location): readonly Location[] {
    const { node } = location;
    if (!isSeq(node) || node.items.length === 0)
      throw this.refused(location, 'takes a list with at least one value, in brackets or a line each');
    return node.items.map((item, index) => ({ node: item, path: `${location.path}[${index + 1}]` }));
  }

  /** Returns the text of a scalar as the file writes it, without surrounding spaces. */
  text(location: Location, takes = 'a text'): string {
    const scalar = this.#scalar(location, takes);
    const text = written(scalar);
    if (text.trim() === '') throw this.refused(location, `is empty; it takes ${takes}`);
    return text.trim();
  }

  choice<T extends string>(location: Location, values: readonly T[]): T {
    const text = this.text(location, values.join(' or '));
    const found = values.find((value) => value === text);
    if (found === undefined)
      throw this.refused(location, `takes ${values.join(' or ')}, not "${shown(text)}"`);
    return found;
  }

  /** Rejects aliases, for a file in which no two places may share a value. @throws UsageError at the first alias. */
  refuseAliases(): void {
    visit(this.#document, {
      Alias: (_, node) => {
        throw this.refused(
          { node, path: '' },
          `*${shown(node.source)} is an alias, and a change of one place would change the other; write the value out`,
        );
      },
    });
  }

  /**
   * Rejects a number or key whose text in the file differs from its parsed value, such as 012 or 1e3. If a program
   * rewrote the file, that text would change. @throws UsageError at the first such text.
   */
  refuseRewritten(): void {
    visit(this.#document, {
      Scalar: (key, node) => {
        const { value, source = '' } = node;
        if (typeof value === 'string' || String(value) === source) return;
        if (key === 'key' || typeof value === 'number')
          throw this.refused(
            { node, path: '' },
            `${shown(source)} is read as ${value}; write numbers in decimal digits, such as 5000, and text in quotes`,
          );
      },
    });
  }

  /** A value as plain data, with all aliases resolved. */
  plain({ node }: Location): unknown {
    return isNode(node) ? node.toJS(this.#document, { maxAliasCount: 100 }) : undefined;
  }

  pairs(
    location: Location,
  ): { readonly key: { readonly text: string; readonly location: Location }; readonly value: Location }[] {
    const { node, path } = location;
    if (!isMap(node)) throw this.refused(location, path === '' ? this.#reading.whole : 'takes a map');
    return node.items.map((pair) => {
      const text = isScalar(pair.key) ? written(pair.key) : '';
      const key = { text, location: { node: pair.key, path } };
      // If a key has no value, use the position of the key.
      const value = isScalar(pair.value) && pair.value.value === null ? undefined : pair.value;
      const inner = path === '' ? text : `${path}.${text}`;
      if (value === undefined || value === null)
        throw this.refused({ node: pair.key, path: inner }, 'has no value');
      return { key, value: { node: value, path: inner } };
    });
  }

  #scalar(location: Location, takes: string): Scalar {
    const { node } = location;
    if (isAlias(node)) throw this.refused(location, 'is an alias (*); write the value out');
    if (!isScalar(node)) throw this.refused(location, `takes ${takes}`);
    return node;
  }

  #unknown(
    { text, location }: { readonly text: string; readonly location: Location },
    known: readonly string[],
  ) {
    const near = nearestWord(text, known);
    const where = { node: location.node, path: '' };
    const inside = location.path === '' ? '' : ` in ${location.path}`;
    const suggestion = near === undefined ? `known: ${known.join(', ')}` : `did you mean ${near}?`;
    return this.refused(where, `"${shown(text)}" is not known${inside}; ${suggestion}`);
  }
}

const isNode = (node: unknown): node is Node => isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);

/** Returns a scalar exactly as the file writes it. The parsed number would lose the zeros in 200.00 or 000. */
const written = ({ value, source }: Scalar): string =>
  typeof value === 'string' ? value : (source ?? String(value));

const shown = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
