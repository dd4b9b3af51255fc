import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import { isAlive, self } from './owner.ts';

/**
 * The webhook addresses that errand has registered, since the service has no way to ask for the one that stands.
 * A stack for each scope (a service, a profile, test or live): listeners come and go on top of what was set to stay.
 */
export class Registrations {
  readonly #database: Database;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** An address that stays until another takes its place. */
  stand(scope: string, url: string): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run('DELETE FROM registrations WHERE scope = ? AND pid IS NULL', scope);
      this.#push(scope, url, null, null);
    });
  }

  /** A listener's address, for as long as this process lives. @returns what to end it by. */
  begin(scope: string, url: string): Promise<number> {
    const { pid, started } = self();
    return this.#database.transaction(() => this.#push(scope, url, pid, started));
  }

  /**
   * Ends a listener's address.
   * @returns whether the service still has it, as far as is known, and the address to put back in its place:
   * the latest one set to stay or of a listener that lives.
   */
  end(
    scope: string,
    id: number,
  ): Promise<{ readonly stands: boolean; readonly earlier: string | undefined }> {
    return this.#database.transaction(() => {
      const rows = this.#database.all('SELECT * FROM registrations WHERE scope = ? ORDER BY id DESC', scope);
      const living = rows.filter(isStanding);
      for (const row of rows.filter((row) => row.id === id || !living.includes(row)))
        this.#database.run('DELETE FROM registrations WHERE id = ?', Number(row.id));
      const earlier = living.find((row) => row.id !== id)?.url;
      return {
        stands: living[0]?.id === id,
        earlier: earlier === undefined ? undefined : String(earlier),
      };
    });
  }

  /** The address that stands, as far as is known: the latest that was set to stay, or of a listener that lives. */
  standing(scope: string): string | undefined {
    const rows = this.#database.all('SELECT * FROM registrations WHERE scope = ? ORDER BY id DESC', scope);
    const url = rows.find(isStanding)?.url;
    return url === undefined ? undefined : String(url);
  }

  #push(scope: string, url: string, pid: number | null, started: string | null): number {
    this.#database.run(
      'INSERT INTO registrations (scope, url, registered_at, pid, process_started) VALUES (?, ?, ?, ?, ?)',
      scope,
      url,
      new Date(this.#now()).toISOString(),
      pid,
      started,
    );
    return Number(
      this.#database.all('SELECT max(id) AS id FROM registrations WHERE scope = ?', scope)[0]?.id,
    );
  }
}

const isStanding = ({ pid, process_started: started }: StoredRow): boolean =>
  pid === null || isAlive({ pid: Number(pid), started: String(started) });
