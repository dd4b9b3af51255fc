// Places one order by the library, as a program of its own would. As a script it takes the built package, reads the call
// from stdin, and prints what came of it.
import { argv, stdin, stdout } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Places the order of a call. @returns what came of it, as text. */
export async function placeByLibrary({ createClient, ErrandError, openJournal, placeOrder }, call) {
  const { baseUrl, apiKey, folder, database, policy, order, options } = call;
  const client = createClient({ baseUrl, apiKey, retries: 0 });
  const journal = await openJournal({ folder, database, policy, program: 'shop' });
  const placed = async () => {
    try {
      const { order: made, existed } = await placeOrder(client, journal, order, options);
      return { id: made.id, existed };
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      const { category, message, facts } = error;
      return { error: { category, message, outcome: facts.outcome, code: facts.code, next: facts.next } };
    }
  };
  const outcome = JSON.stringify(await placed());
  await journal.close();
  await client.close();
  return outcome;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const library = (name) => import(new URL(`../../../dist/sdk/${name}.js`, import.meta.url));
  const parts = await Promise.all([library('index'), library('safely')]);
  stdout.write(await placeByLibrary(Object.assign({}, ...parts), JSON.parse(await text(stdin))));
}
