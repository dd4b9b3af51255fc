/** What became, as far as this process knows, of something that it recorded in the journal. */
export interface RunIntent {
  readonly key: string;
  readonly baseUrl: string;
  readonly operation: string;
  /** Of what the service made; undefined while no response came. */
  readonly madeId: string | undefined;
}

/**
 * The intents of this run that the user has still to be shown. Kept in memory beside the journal, so that it is known
 * even where the disk has failed since.
 */
export class RunIntents {
  readonly #intents = new Map<string, RunIntent>();

  /** It may be sent from here on; with `madeId` the service has responded. Of what it asks for nothing is kept: that may be long. */
  note({ key, baseUrl, operation }: Omit<RunIntent, 'madeId'>, madeId?: string): void {
    this.#intents.set(idOf({ key, baseUrl }), { key, baseUrl, operation, madeId });
  }

  /** The service has responded to a noted intent. */
  respond(intent: Pick<RunIntent, 'key' | 'baseUrl'>, madeId: string): void {
    const known = this.#intents.get(idOf(intent));
    if (known) this.#intents.set(idOf(intent), { ...known, madeId });
  }

  /** Nothing came of it, or the user knows what did. */
  drop(intent: Pick<RunIntent, 'key' | 'baseUrl'>): void {
    this.#intents.delete(idOf(intent));
  }

  /** In the order in which they were recorded. */
  all(): readonly RunIntent[] {
    return [...this.#intents.values()];
  }
}

const idOf = ({ key, baseUrl }: Pick<RunIntent, 'key' | 'baseUrl'>): string => JSON.stringify([baseUrl, key]);
