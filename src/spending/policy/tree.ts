import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Scalar } from 'yaml';
import { readYaml } from '../../format/parse-document.ts';
import { UsageError } from '../../platform/errors.ts';
import { nearestWord } from '../../platform/near-words.ts';

/** A value of a policy file, with where it stands. */
export interface Location {
  readonly node: unknown;
  /** `limits.per_day`; empty for the whole file. */
  readonly path: string;
}

/** A YAML file as a tree of places, each of which is read as what it must be. Every refusal names file and line. */
export class PolicyTree {
  readonly root: Location;
  readonly #file: string;
  readonly #lines = new LineCounter();

  /** @throws UsageError naming the line, for text that is no YAML. */
  constructor(file: string, text: string) {
    this.#file = file;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      this.#lines.addNewLine(at + 1);
    this.#lines.lineStarts.unshift(0);
    this.root = { node: readYaml(file, text).contents, path: '' };
  }

  lineOf({ node }: Location): number {
    const range = isNode(node) ? node.range : undefined;
    return range ? this.#lines.linePos(range[0]).line : 1;
  }

  refused(location: Location, what: string): UsageError {
    const where = `${this.#file}, line ${this.lineOf(location)}`;
    return new UsageError(location.path === '' ? `${where}: ${what}` : `${where}: ${location.path} ${what}`);
  }

  /** The values of a map by their keys. @throws UsageError for a key that is not among `known`, naming the nearest. */
  fields<K extends string>(location: Location, known: readonly K[]): Partial<Record<K, Location>> {
    const found: Partial<Record<K, Location>> = {};
    for (const { key, value } of this.pairs(location)) {
      const name = known.find((one) => one === key.text);
      if (name === undefined) throw this.#unknown(key, known);
      found[name] = value;
    }
    return found;
  }

  /** Any map of texts to texts. */
  texts(location: Location): Record<string, string> {
    return Object.fromEntries(this.pairs(location).map(({ key, value }) => [key.text, this.text(value)]));
  }

  list(location: Location): readonly Location[] {
    const { node } = location;
    if (!isSeq(node) || node.items.length === 0)
      throw this.refused(location, 'takes a list with at least one value, in brackets or a line each');
    return node.items.map((item, index) => ({ node: item, path: `${location.path}[${index + 1}]` }));
  }

  /** A scalar as it is written. */
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

  pairs(
    location: Location,
  ): { readonly key: { readonly text: string; readonly location: Location }; readonly value: Location }[] {
    const { node, path } = location;
    if (!isMap(node))
      throw this.refused(location, path === '' ? 'a policy is a map: version: 1, …' : 'takes a map');
    return node.items.map((pair) => {
      const text = isScalar(pair.key) ? written(pair.key) : '';
      const key = { text, location: { node: pair.key, path } };
      // A key without a value stands where its key does.
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
    const meant = near === undefined ? `known: ${known.join(', ')}` : `did you mean ${near}?`;
    return this.refused(where, `"${shown(text)}" is not known${inside}; ${meant}`);
  }
}

const isNode = (node: unknown): node is Node => isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);

/** A number as it is written: 200.00 and 000 are more than their values. */
const written = ({ value, source }: Scalar): string =>
  typeof value === 'string' ? value : (source ?? String(value));

const shown = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
