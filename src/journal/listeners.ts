import type { Database } from '../platform/sqlite/database.ts';
import { isAlive, self } from './owner.ts';

/** The processes that receive events at this moment. One that was killed is no listener any more. */
export class Listeners {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** This process receives events of a service at an address. @returns what to end it by. */
  begin(baseUrl: string, url: string): Promise<number> {
    const { pid, started } = self();
    return this.#database.transaction(() => {
      this.#database.run(
        'INSERT INTO listeners (base_url, url, pid, process_started) VALUES (?, ?, ?, ?)',
        baseUrl,
        url,
        pid,
        started,
      );
      return Number(this.#database.all('SELECT max(id) AS id FROM listeners')[0]?.id);
    });
  }

  end(id: number): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run('DELETE FROM listeners WHERE id = ?', id);
    });
  }

  /** Where processes receive events of a service; empty for one whose address an older errand did not note. */
  addresses(baseUrl: string): Promise<string[]> {
    return this.#database.transaction(() => {
      const rows = this.#database.all(
        'SELECT id, url, pid, process_started FROM listeners WHERE base_url = ?',
        baseUrl,
      );
      const alive = rows.filter(({ pid, process_started: started }) =>
        isAlive({ pid: Number(pid), started: String(started) }),
      );
      for (const { id } of rows.filter((row) => !alive.includes(row)))
        this.#database.run('DELETE FROM listeners WHERE id = ?', Number(id));
      return alive.map(({ url }) => String(url));
    });
  }
}
