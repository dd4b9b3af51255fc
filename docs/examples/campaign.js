/**
 * Orders each row of a CSV file once, on any number of machines that run this with the same file. DBOS Transact keeps in
 * PostgreSQL which parts of the file are done; rows, addresses and keys stay on the machines.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { parse } from 'csv-parse/sync';
import { createClient } from 'errand';
import { DuplicateError, ErrandError, openJournal, placeOrder } from 'errand/safely';
import { Pool } from 'pg';

const rowsOfPart = 10;
const [path = ''] = process.argv.slice(2);
const {
  ENGINE_URL,
  ERRAND_DATABASE_URL: database,
  ERRAND_POLICY: policy,
  ERRAND_POLICY_SIGNER: policySigner,
  JOURNAL = 'journal',
  ORDERS_PER_SECOND = '5',
  SERVICE_KEY: apiKey,
  SERVICE_URL: baseUrl,
  WORKER,
} = process.env;

/** Ends a worker that a new start does not help. */
function refuse(why) {
  console.error(why);
  process.exit(2);
}

const rate = Number(ORDERS_PER_SECOND);
if (!path || !ENGINE_URL || !apiKey || !baseUrl || !WORKER || !(Number.isInteger(rate) && rate > 0))
  refuse(
    'usage: WORKER=name ENGINE_URL=… SERVICE_URL=… SERVICE_KEY=… [ORDERS_PER_SECOND=5] node campaign.js --prepare | FILE',
  );

// Once, before the first worker: two that make the engine's tables at the same time break them.
if (path === '--prepare') {
  await DBOS.migrate(ENGINE_URL);
  process.exit();
}

const bytes = readFileSync(path);
const hash = createHash('sha256').update(bytes).digest('hex');
const rows = parse(bytes, { columns: true, bom: true });
// Two spellings of one reference would be one order.
const references = rows.map(({ reference = '' }) => reference.trim().normalize());
if (references.includes('')) refuse(`${path}: a row has no reference`);
if (new Set(references).size < rows.length) refuse(`${path}: two rows have one reference`);

/** All columns but these four are fields of the address. */
function orderOf({ reference: _, product_url: url, quantity, max_price_cents: cents, ...address }) {
  const given = Object.entries(address).filter(([, value]) => value !== '');
  return {
    max_price: Number(cents),
    products: [{ url, quantity: Number(quantity || 1) }],
    shipping_address: Object.fromEntries(given),
  };
}

/** Failures of one row. Any other failure may pass: the part is tried again. */
const isOfRow = (error) =>
  error instanceof DuplicateError ||
  (error instanceof ErrandError && ['usage', 'not_found', 'policy'].includes(error.category));

const client = createClient({ baseUrl, apiKey });
const journal = await openJournal({
  folder: resolve(JOURNAL),
  program: 'campaign',
  policy,
  policySigner,
  database,
});

/** Places the rows of a part; rows that were placed before are found by their references. */
async function placePart(of, number) {
  if (of !== hash) throw new Error(`this worker has another file than ${of}`);
  const refused = [];
  const first = number * rowsOfPart;
  for (const [at, row] of rows.slice(first, first + rowsOfPart).entries()) {
    try {
      await placeOrder(client, journal, orderOf(row), { reference: row.reference });
    } catch (error) {
      console.error(`row ${first + at + 1}: ${error.message}`);
      // The engine stores what is thrown and returned here: a message may hold an address.
      const category = error.category ?? 'unexpected';
      if (!isOfRow(error)) throw new Error(`row ${first + at + 1}: ${category}`);
      refused.push({ row: first + at + 1, category });
    }
  }
  return refused;
}

/** Until what is wrong is mended: a service that is away, a key, a wallet that is empty. */
const untilMended = { retriesAllowed: true, intervalSeconds: 10, backoffRate: 1, maxAttempts: 1_000_000 };
/** However often workers are killed: the engine would give up at a hundred times. */
const anyKills = { maxRecoveryAttempts: 1_000_000 };

const part = DBOS.registerWorkflow(
  (of, number) => DBOS.runStep(() => placePart(of, number), { name: 'place', ...untilMended }),
  { name: 'part', ...anyKills },
);

const queueOf = (of) => `campaign-${of}`;

const campaign = DBOS.registerWorkflow(
  async (of, parts) => {
    const begun = [];
    for (let number = 0; number < parts; number += 1) {
      const once = { workflowID: `${of}-${number}`, queueName: queueOf(of) };
      begun.push(await DBOS.startWorkflow(part, once)(of, number));
    }
    const refused = [];
    for (const handle of begun) refused.push(...(await handle.getResult()));
    return refused;
  },
  { name: 'campaign', ...anyKills },
);

// What was claimed when the connection broke waits for the next start of this worker: so it starts anew.
const pool = new Pool({ connectionString: ENGINE_URL, idle_in_transaction_session_timeout: 60_000 });
pool.on('connect', (connection) => connection.on('error', () => process.exit(1)));
pool.on('error', () => process.exit(1));

DBOS.setConfig({
  name: 'campaign',
  applicationVersion: '1',
  executorID: WORKER,
  systemDatabasePool: pool,
  runMigrations: false,
  listenQueues: [queueOf(hash)],
  logLevel: 'error',
});
await DBOS.launch();
// Parts begun in ten seconds are as many as orders in one second.
await DBOS.registerQueue(queueOf(hash), {
  workerConcurrency: 4,
  rateLimit: { limitPerPeriod: rate, periodSec: rowsOfPart },
  minPollingIntervalMs: 200,
});
const handle = await DBOS.startWorkflow(campaign, { workflowID: hash })(
  hash,
  Math.ceil(rows.length / rowsOfPart),
);
const refused = await handle.getResult();
console.log(
  JSON.stringify({ campaign: hash, rows: rows.length, ordered: rows.length - refused.length, refused }),
);

await DBOS.shutdown();
await Promise.all([journal.close(), client.close()]);
process.exit(refused.length > 0 ? 7 : 0);
