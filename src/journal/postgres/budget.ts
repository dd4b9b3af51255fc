import { numberIn } from '../../api/json.ts';
import type { DatabaseAddress } from '../../format/database-address.ts';
import type { Campaign, CampaignOwner } from './campaign.ts';
import { type DatabaseRow, literal } from './connect.ts';
import { PatientConnection } from './patience.ts';

/** Requests a second, where the service has never asked for fewer. */
const firstRate = 30;
const [leastRate, mostRate] = [0.05, 1000];
/** What of the rate is left where the service asks for fewer requests. */
const cut = 0.85;
/** What it grows by in a second, as a part of what it was cut to. */
const growth = 0.02;
/** A pause where the service asks for one and does not say how long, and the longest that it is granted, ms. */
const [pauseMs, longestPauseMs] = [1_000, 600_000];
/** Turns that are remembered, to tell how many were taken in the last second. */
const remembered = 200;
/** A turn that begins as soon is taken at once, ms. */
const nearMs = 3;

/** A request may leave now, or not before `waitMs` have passed. */
export type Turn = { readonly at: number; readonly waitMs?: never } | { readonly waitMs: number };

/**
 * How many requests a second all workers may send to a service with one account: a row of the database, whose clock spaces
 * them. The service's refusals (429) lower it, and it grows again slowly.
 */
export class RequestBudget {
  readonly #connection: PatientConnection;
  readonly #where: string;
  readonly #owner: string;

  constructor(address: DatabaseAddress, { baseUrl, account }: CampaignOwner, signal: AbortSignal) {
    this.#connection = new PatientConnection(address, signal);
    this.#owner = `${literal(baseUrl)}, ${literal(account)}`;
    this.#where = `base_url = ${literal(baseUrl)} AND account = ${literal(account)}`;
  }

  /**
   * The budget is there. What the workers of another campaign were told still holds for all.
   * @param most requests a second that was set for a campaign; undefined where nothing was.
   */
  async begin({ id }: Pick<Campaign, 'id'>, most: number | undefined): Promise<void> {
    const limit = most ?? mostRate;
    const hasOthers = `EXISTS (SELECT 1 FROM errand.workers JOIN errand.campaigns ON campaigns.id = workers.campaign
      WHERE workers.until > clock_timestamp() AND campaigns.id <> ${id}
        AND campaigns.base_url = known.base_url AND campaigns.account = known.account)`;
    await this.#connection.ask(
      `INSERT INTO errand.request_budgets AS known (base_url, account, rate, most, base, next_at, grown_at, cut_at, recent)
         VALUES (${this.#owner}, least(${firstRate}, ${limit}), ${limit}, ${firstRate}, clock_timestamp(), clock_timestamp(), 'epoch', '{}')
       ON CONFLICT (base_url, account) DO UPDATE SET
         most = CASE WHEN ${hasOthers} THEN least(known.most, excluded.most) ELSE excluded.most END, rate = least(known.rate, excluded.most)`,
    );
  }

  /** Takes a turn where it is time for one. @returns when it was taken, s since the epoch by the database's clock. */
  async take(): Promise<Turn> {
    const now = 'extract(epoch FROM clock_timestamp())::float8';
    const rows = await this.#connection.ask(
      `UPDATE errand.request_budgets SET
         rate = least(most, rate + base * ${growth} * least(1, greatest(0, ${now} - extract(epoch FROM grown_at)))),
         grown_at = clock_timestamp(),
         next_at = greatest(next_at, clock_timestamp()) + make_interval(secs => 1 / rate),
         recent = (ARRAY[${now}] || recent)[1:${remembered}]
       WHERE ${this.#where} AND next_at <= clock_timestamp() + interval '${nearMs} milliseconds'
       RETURNING recent[1] AS at;
       SELECT greatest(1, extract(epoch FROM next_at - clock_timestamp()) * 1000)::float8 AS wait FROM errand.request_budgets WHERE ${this.#where}`,
    );
    const at = numbered(rows, 'at');
    return at === undefined ? { waitMs: numbered(rows, 'wait') ?? pauseMs } : { at };
  }

  /**
   * The service refused a request that had its turn at `at`: fewer from now on, and none before it asks for more.
   * What was taken before the last cut cuts no more: it is the same refusal. @param askedMs undefined where it did not say.
   */
  async cut(at: number, askedMs: number | undefined): Promise<void> {
    const pause = Math.min(longestPauseMs, Math.max(askedMs ?? pauseMs, 0));
    const isNew = `extract(epoch FROM cut_at) < ${at}`;
    const taken = `(SELECT count(*) FROM unnest(recent) AS turn WHERE turn > ${at} - 1 AND turn <= ${at})`;
    const lower = `greatest(${leastRate}, ${cut} * least(rate, greatest(1, ${taken} - 1)))`;
    await this.#connection.ask(
      `UPDATE errand.request_budgets SET
         rate = CASE WHEN ${isNew} THEN ${lower} ELSE rate END,
         base = CASE WHEN ${isNew} THEN ${lower} ELSE base END,
         cut_at = CASE WHEN ${isNew} THEN clock_timestamp() ELSE cut_at END,
         grown_at = CASE WHEN ${isNew} THEN clock_timestamp() + interval '${pause} milliseconds' ELSE grown_at END,
         next_at = greatest(next_at, clock_timestamp() + interval '${pause} milliseconds')
       WHERE ${this.#where}`,
    );
  }

  close(): void {
    this.#connection.drop();
  }
}

function numbered(rows: readonly DatabaseRow[], name: string): number | undefined {
  const row = rows.find((one) => name in one);
  return row && numberIn({ [name]: Number(row[name]) }, name);
}
