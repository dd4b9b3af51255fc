import { describe, expect, test } from 'vitest';
import { Random } from '../faults/random.ts';
import { hasPostgres, type PostgresServer, useServer } from '../support/postgres.ts';
import { isWhole } from '../support/whole.ts';
import { type Case, casesOf } from './altered/cases.ts';
import { play, type Which } from './altered/plays.ts';
import { isQuiet } from './altered/quiet.ts';
import { Scene } from './altered/scene.ts';

/**
 * `npm test` draws some cases, others each day, and judges what is spent and sent; `npm run proofs -- altered` plays all of them,
 * and judges whether they are named, too.
 */
const drawn = 4;
const [dayMs, wholeMs] = [24 * 3600 * 1000, 90 * 60_000];
const { ALTERED_SEED = String(Math.floor(Date.now() / dayMs)) } = process.env;

describe.skipIf(!hasPostgres)(
  'whoever has the role of the database, and changes one field or row of it',
  () => {
    const server = useServer();

    test(
      'has nothing spent, ordered or sent elsewhere; a whole run names it, but for what decides nothing',
      async () => {
        const lanes = Array.from({ length: isWhole ? 2 : 1 }, (_, lane) => playedBy(server(), lane));
        const problems = (await Promise.all(lanes)).flat();
        expect(problems.slice(0, 40), `${problems.length}, ALTERED_SEED=${ALTERED_SEED}`).toEqual([]);
      },
      isWhole ? wholeMs : undefined,
    );
  },
);

/** Plays the cases of a lane. @returns what must not be. */
async function playedBy(server: PostgresServer, lane: number): Promise<string[]> {
  const scene = await Scene.make(server);
  const empty = Object.entries(scene.now).filter(([, rows]) => rows.length === 0);
  expect(
    empty.map(([name]) => name),
    'tables without a row',
  ).toEqual([]);
  const random = new Random(Number(ALTERED_SEED));
  const all = casesOf(scene);
  const cases = random.some(all, isWhole ? all.length : drawn);
  const plain = new Plain(scene);
  const problems: string[] = [];
  for (const [at, one] of cases.entries()) {
    const which: Which = one.isOldState || random.next() < 0.5 ? 'known' : 'new';
    if (isWhole && at % 2 !== lane) continue;
    problems.push(...(await problemsOf(scene, plain, one, which)));
  }
  return problems;
}

async function problemsOf(scene: Scene, plain: Plain, one: Case, which: Which): Promise<string[]> {
  const before = await plain.said(one, which);
  const isNamed = (said: readonly string[]): boolean => said.some((line) => !before.has(line));
  await scene.begin(one.state());
  const { wrong, said } = await play(scene, one, which, isNamed);
  const silent = !isWhole || isNamed(said) || isQuiet(one.field) ? [] : ['nothing names it'];
  return [...wrong, ...silent].map((what) => `${one.name} (a machine that is ${which}): ${what}`);
}

/** What the machines say of the database as it is. */
class Plain {
  readonly #scene: Scene;
  readonly #said = new Map<string, ReadonlySet<string>>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async said({ table }: Case, which: Which): Promise<ReadonlySet<string>> {
    const known = this.#said.get(`${table} ${which}`);
    if (known) return known;
    await this.#scene.begin(this.#scene.now);
    const { wrong, said } = await play(this.#scene, { table }, which);
    expect(wrong, `${table}, as it is`).toEqual([]);
    const found = new Set(said);
    this.#said.set(`${table} ${which}`, found);
    return found;
  }
}
