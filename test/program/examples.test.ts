import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AnyCommand, Noun } from '../../src/commands/define.ts';
import { entries } from '../../src/program.ts';
import { makePlace, type Place } from './place.ts';
import { errand, shell } from './run.ts';

interface Known {
  readonly path: string;
  readonly command: AnyCommand;
}

function commandsOf(path: string, part: AnyCommand | Noun): Known[] {
  if (!('verbs' in part)) return [{ path, command: part }];
  return part.verbs.flatMap((verb) => commandsOf(`${path} ${verb.name}`, verb));
}

const loaded = await Promise.all(entries.map(async (entry) => ({ entry, part: await entry.load() })));
const commands = loaded.flatMap(({ entry, part }) =>
  commandsOf(entry.name, 'noun' in part ? part.noun : part.command),
);
/** What empties the sandbox comes last. */
const examples = commands
  .flatMap(({ path, command }) => command.examples.map(({ command: line }) => [path, line] as const))
  .toSorted(([a], [b]) => Number(a === 'sandbox reset') - Number(b === 'sandbox reset'));

/** Exit codes with which an example may end besides 0, since they are what it shows. */
const alsoFine: Readonly<Record<string, readonly number[]>> = {
  'order cancel': [0, 5],
  'retailer check': [0, 7],
};
/** Examples that go on until they are ended; `test/service` runs them. */
const endless = /^errand sandbox serve/;

describe('every example of the help', () => {
  let place: Place;

  beforeAll(async () => {
    place = makePlace();
    const setUp = [
      'errand config set sandbox-speed 50',
      'errand sandbox mint --no-store -o json --query example_order > order.json',
      `sed '1s/{/{"idempotency_key": "example-1",/' order.json > keyed-order.json`,
      "errand sandbox mint --no-store -o json --query api_key | tr -d '\"' > key.txt",
      'printf secret > password.txt',
      'errand profile set served --base-url http://127.0.0.1:4848',
      'errand order create --file order.json',
    ];
    for (const line of setUp) expect(await shell(place, line)).toMatchObject({ code: 0 });
    place.environment.URL = JSON.parse(
      (await errand(place, ['sandbox', 'products', '-o', 'json'])).stdout,
    )[0].url;
    place.environment.SLOW = place.environment.URL?.replace(/[^/]+$/, 'test-slow') ?? '';
    place.environment.ACCOUNT = (
      await shell(place, 'errand account add --email first@example.com --password-file password.txt -o id')
    ).stdout.trim();
    place.environment.PRODUCT =
      (
        await errand(place, ['product', 'search', 'tea', '--retailer', 'harborgoods', '-o', 'id'])
      ).stdout.split('\n')[0] ?? '';
    place.environment.ORDER = (
      await errand(place, ['order', 'list', '-o', 'id', '--limit', '1'])
    ).stdout.trim();
  });

  afterAll(() => place.remove());

  /** An order that waits for a minute before it is taken up. */
  async function pendingOrder(): Promise<string> {
    const line = "errand order create --product $SLOW --max-price '$50' --ship-to home -o id";
    return (await shell(place, line)).stdout.trim();
  }

  test.each(commands.map(({ path, command }) => [path, command.examples.length] as const))(
    '%s has one to four',
    (_, count) => {
      expect(count).toBeGreaterThanOrEqual(1);
      expect(count).toBeLessThanOrEqual(4);
    },
  );

  test.each(examples.filter(([, line]) => !endless.test(line) && !line.includes('$KEY')))(
    '%s: %s',
    { timeout: 60_000 },
    async (path, line) => {
      if (line.includes('$PENDING')) place.environment.PENDING = await pendingOrder();
      const { code, stdout, stderr } = await shell(place, line);
      expect(alsoFine[path] ?? [0], `${line}\n${stdout}${stderr}`).toContain(code);
    },
  );
});
