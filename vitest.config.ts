import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { hasPostgres } from './test/team/postgres.ts';

/**
 * These start the program, or other processes, in nearly every test: what one file leaves behind must reach no other.
 * Those of slow texts compare times, which the garbage of other files would bend.
 */
const alone = [
  'browser',
  'cli/completion',
  'documents',
  'faults',
  'hostile',
  'interop',
  'mcp',
  'program',
  'slow-text',
  'state',
  'stories',
  'team',
  'terminal',
].map((folder) => `test/${folder}/**/*.test.ts`);

/** Run on the embedded store and on PostgreSQL. */
const onBothStores = [
  'state/journal',
  'state/reservations',
  'state/audit',
  'state/payments',
  'program/bulk-in-doubt',
  'program/return-again',
  'program/at-once',
].map((name) => `test/${name}.test.ts`);

/** Each takes a minute and more, most of it waiting. */
const longest = [
  'faults/faults',
  'stories/stories',
  'faults/sweep',
  'faults/flips',
  'hostile/responses',
  'completion/shells',
  'program/one-intent',
  'golden/golden',
  'program/examples',
  'mcp/adversary',
  'program/agent',
].map((name) => `/${name}.test.ts`);

const rank = ({ moduleId, project }: TestSpecification): number => {
  const found = longest.findIndex((name) => moduleId.endsWith(name));
  if (found >= 0) return found;
  return project.name === 'processes' ? longest.length : longest.length + 1;
};

/** The longest first and the shortest last, so that all workers end at about the same time. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A shared machine may stall for seconds. What fails twice is wrong; what passes the second time is marked in the report.
    retry: process.env.ERRAND_CI ? 1 : 0,
    pool: 'forks',
    // What is polled for takes a second and more on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    // Most tests wait for a process or a socket: more workers than cores leave none idle.
    maxWorkers: Math.max(3, Math.ceil(availableParallelism() * 1.5)),
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'processes', include: alone } },
      // What a journal promises holds in the database of a team as well.
      {
        extends: true,
        test: {
          name: 'team',
          include: hasPostgres ? onBothStores : [],
          globalSetup: 'test/team/setup.ts',
          env: { STORE: 'postgres' },
        },
      },
      // Loading the sources takes longer than most of these tests: the files of a worker share them.
      {
        extends: true,
        test: {
          name: 'sources',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, '**/node_modules/**'],
          isolate: false,
        },
      },
    ],
  },
});
