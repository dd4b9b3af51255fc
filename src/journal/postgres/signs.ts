import { hostname } from 'node:os';
import type { DatabaseAddress } from '../../format/database-address.ts';
import { Connection, literal } from './connect.ts';

/** How long a worker holds what it has taken without a sign of life, and how often it gives one, ms. */
const [leaseMs, signEveryMs] = [20_000, 4_000];
/** So long is waited for the database to hear that a worker leaves, ms. */
const farewellMs = 1000;

/** The signs of life of a worker. They have a connection of their own, and stand in no line: others take a silent worker's work. */
export class Signs {
  readonly #address: DatabaseAddress;
  readonly #worker: string;
  #connection: Connection;
  #timer: NodeJS.Timeout | undefined;
  #pending: Promise<void> | undefined;
  #campaign: number | undefined;
  #hasCome = false;

  constructor(address: DatabaseAddress, worker: string) {
    this.#address = address;
    this.#worker = worker;
    this.#connection = new Connection(address);
  }

  /** A sign in SQL, which its caller asks. @param campaign what the worker works at from now on. */
  next(campaign?: number): string {
    this.#hasCome = true;
    this.#campaign = campaign;
    const until = `clock_timestamp() + interval '${leaseMs} milliseconds'`;
    return `INSERT INTO errand.workers (id, host, campaign, until)
        VALUES ('${this.#worker}', ${literal(hostname())}, ${campaign ?? 'NULL'}, ${until})
        ON CONFLICT (id) DO UPDATE SET until = excluded.until, campaign = excluded.campaign`;
  }

  begin(): void {
    this.#timer ??= setInterval(() => this.#give(), signEveryMs).unref();
  }

  /** No more signs. @param farewell SQL that is asked, where it can be soon. Never fails. */
  async end(farewell: string): Promise<void> {
    clearInterval(this.#timer);
    if (this.#hasCome) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, farewellMs);
      });
      await Promise.race([this.#connection.ask(farewell, true).then(unheard, unheard), late]);
      clearTimeout(timer);
    }
    this.#connection.drop();
  }

  /** One at a time: a connection on which the last one was not answered is given up. */
  #give(): void {
    if (this.#pending) {
      this.#connection.drop();
      this.#connection = new Connection(this.#address);
    }
    const given = this.#connection.ask(this.next(this.#campaign), true).then(unheard, unheard);
    this.#pending = given;
    void given.then(() => {
      if (this.#pending === given) this.#pending = undefined;
    });
  }
}

/** The next sign says the same. */
const unheard = (): void => {};
