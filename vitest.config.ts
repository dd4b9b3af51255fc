import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { hangsAfterMs } from './test/support/limits.ts';
import { hasPostgres } from './test/support/postgres.ts';
import { refillReporter, refills } from './test/support/refill.ts';

/** These start the program, or other processes, in nearly every test. */
const starting = [
  'browser',
  'commands',
  'documents',
  'earlier',
  'faults',
  'hostile',
  'integrations',
  'postgres',
  'process',
  'rooms/journal',
  'simulation',
  'terminal',
].map((folder) => `test/${folder}/**/*.test.ts`);

/** Run on the embedded store and on PostgreSQL. */
const onBothStores = [
  'rooms/journal/journal',
  'rooms/journal/attempts',
  'rooms/journal/reservations',
  'rooms/journal/running-sums',
  'rooms/journal/audit',
  'rooms/journal/payments',
  'commands/bulk/in-doubt',
  'commands/return/again',
  'process/at-once',
].map((name) => `test/${name}.test.ts`);

/** Run with the carrier of a start's first few requests, and with undici from the first on. */
const byBothCarriers = ['failures', 'redirects', 'requests', 'retrying'].map(
  (name) => `test/rooms/http/${name}.test.ts`,
);

/** Each takes a minute and more, most of it waiting. */
const longest = [
  'faults/faults',
  'stories/stories',
  'faults/sweep',
  'faults/flips',
  'hostile/responses',
  'process/shells',
  'order/one-intent',
  'transcripts/transcripts',
  'every/examples',
  'mcp/adversary',
  'agent/agent',
].map((name) => `/${name}.test.ts`);

/** A worker goes on to the next file only within a project. */
const projects = ['processes', 'team', 'undici', 'sources'];

const rank = ({ moduleId, project }: TestSpecification): number => {
  const found = longest.findIndex((name) => moduleId.endsWith(name));
  return found >= 0 && project.name === 'processes' ? found : longest.length + projects.indexOf(project.name);
};

/** The longest first and the shortest last, so that all workers end at about the same time. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // Nets for what hangs, far beyond what a busy machine takes: no test is about time.
    testTimeout: 6 * hangsAfterMs,
    hookTimeout: 6 * hangsAfterMs,
    expect: { poll: { timeout: hangsAfterMs } },
    ...((refills('UPDATE_GOLDEN') || refills('UPDATE_DOCUMENTS')) && {
      reporters: ['default', refillReporter],
    }),
    pool: 'forks',
    // Most tests wait for a process or a socket: more workers than cores leave none idle.
    maxWorkers: Math.max(4, availableParallelism() * 2),
    sequence: { sequencer: LongestFirst },
    projects: [
      // To begin a worker and to load what they look with takes half a second of each file: those of a worker share it.
      { extends: true, test: { name: 'processes', include: starting, isolate: false } },
      // What a journal promises holds in the database of a team as well.
      {
        extends: true,
        test: {
          name: 'team',
          include: hasPostgres ? onBothStores : [],
          globalSetup: 'test/postgres/setup.ts',
          env: { STORE: 'postgres' },
          isolate: false,
        },
      },
      // Whoever carries a request, what becomes of it is told alike.
      {
        extends: true,
        test: { name: 'undici', include: byBothCarriers, env: { CARRIER: 'undici' }, isolate: false },
      },
      // Loading the sources takes longer than most of these tests: the files of a worker share them.
      {
        extends: true,
        test: {
          name: 'sources',
          include: ['test/**/*.test.ts'],
          exclude: [...starting, '**/node_modules/**'],
          isolate: false,
        },
      },
    ],
  },
});
