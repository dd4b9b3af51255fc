import { scenarioAddresses } from '../../api/scenario/words.ts';
import type { SandboxConfig } from '../config.ts';

const patterns = { named: /\{([A-Za-z][\w.-]{0,63})\}/g };

/** What a scenario calls things, and their ids. */
export class Names {
  readonly #ids = new Map<string, string>();
  readonly #addresses: readonly (readonly [string, string])[];

  constructor({ shopUrl, baseUrl }: Pick<SandboxConfig, 'shopUrl' | 'baseUrl'>) {
    this.#addresses = [
      [scenarioAddresses.shop_url, shopUrl],
      [scenarioAddresses.base_url, baseUrl],
    ];
  }

  set(name: string | undefined, id: string): void {
    if (name !== undefined) this.#ids.set(name, id);
  }

  /** The id of a name; what is no name is an id itself. */
  idOf(name: string): string {
    return this.#ids.get(name) ?? name;
  }

  /** A value with each `{name}` in its texts as the id, and the sandbox's addresses where they are to stand. */
  filled<T>(value: T): T {
    // A text stays a text, a list a list, an object one with the same fields.
    return this.#filled(value) as T;
  }

  #filled(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.map((one) => this.#filled(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, this.#filled(one)]));
  }

  #text(text: string): string {
    const addressed = this.#addresses.reduce((done, [from, to]) => done.replaceAll(from, to), text);
    return addressed.replace(patterns.named, (whole, name: string) => this.#ids.get(name) ?? whole);
  }
}
