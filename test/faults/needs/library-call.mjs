// Places one order by the library of the built package, as a program of its own would. Reads the call from stdin, and
// prints what came of it.
import { text } from 'node:stream/consumers';

const library = (name) => import(new URL(`../../../dist/sdk/${name}.js`, import.meta.url));
const [{ createClient, ErrandError }, { openJournal, placeOrder }] = await Promise.all([
  library('index'),
  library('safely'),
]);

const { baseUrl, apiKey, folder, database, order, options } = JSON.parse(await text(process.stdin));
const client = createClient({ baseUrl, apiKey, retries: 0 });
const journal = await openJournal({ folder, database, program: 'shop' });

async function placed() {
  try {
    const { order: made, existed } = await placeOrder(client, journal, order, options);
    return { id: made.id, existed };
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const { category, message, facts } = error;
    return { error: { category, message, outcome: facts.outcome, code: facts.code, next: facts.next } };
  }
}

process.stdout.write(JSON.stringify(await placed()));
await journal.close();
await client.close();
