import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fingerprintOf, makeKey } from '../support/approval-workspace.ts';
import { hasPostgres } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { addresses, sentChunks, useWorkers } from './workers.ts';

const workers = useWorkers();
const { row, rows, write, bulk, together, begun, until, places, endLeases } = workers;

describe.skipIf(!hasPostgres)('several workers upload one file', () => {
  test('each row is ordered once, and each worker shows all of it', async () => {
    write('december.csv', rows(60));
    const done = await together(4, '--batch-size', '3', '-o', 'json');
    for (const { code, stderr } of done) expect(code, stderr).toBe(0);
    const batches = done.map(({ stdout }) => JSON.parse(stdout).map(({ id }: { id: string }) => id));
    expect(batches[0]).toHaveLength(20);
    for (const one of batches) expect(one).toEqual(batches[0]);
    expect(await places()).toEqual(addresses(60));
  });

  test('a worker without the file takes its rows from the database; the same again orders nothing', async () => {
    write('december.csv', rows(30), [0]);
    const first = begun(0, 'december.csv', '--share', '--batch-size', '1');
    await until(`${sentChunks} > 0`);
    const second = await bulk(1, 'upload', '--share', '--name', 'december');
    expect(second.code, second.stderr).toBe(0);
    expect((await first.ended).code).toBe(0);
    const results = await bulk(2, 'results', 'december');
    expect(results.stdout.trim().split('\n')).toHaveLength(31);
    const again = await bulk(3, 'upload', '--share', '--name', 'december');
    expect(again.stderr).toContain('this upload was made before; nothing was ordered again');
    expect(await places()).toEqual(addresses(30));
  });

  test('a worker that is killed costs its lease and nothing else', async () => {
    write('december.csv', rows(40));
    const first = begun(0, 'december.csv', '--share', '--batch-size', '1');
    const second = begun(1, 'december.csv', '--share', '--batch-size', '1');
    await until(`${sentChunks} > 5`);
    first.child.kill('SIGKILL');
    await first.ended;
    await endLeases();
    const { code, stderr } = await second.ended;
    expect(code, stderr).toBe(0);
    expect(await places()).toEqual(addresses(40));
  });

  test('Ctrl-C leaves the rest to the others at once', async () => {
    write('december.csv', rows(40));
    const first = begun(0, 'december.csv', '--share', '--batch-size', '1');
    const second = begun(1, 'december.csv', '--share', '--batch-size', '1');
    await until(`${sentChunks} > 5`);
    first.child.kill('SIGINT');
    const stopped = await first.ended;
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toMatch(/^\d+ rows of 40 are uploaded; the other workers go on$/m);
    const { code, stderr } = await second.ended;
    expect(code, stderr).toBe(0);
    // No one has to wait for the lease of a worker that left cleanly.
    expect(stderr).not.toMatch(/waiting up to [\d,]+ s for process/);
    expect(await places()).toEqual(addresses(40));
  });

  test('another file, other options, another key: one who comes with those is refused in words', async () => {
    write('december.csv', rows(12), [0]);
    write('december.csv', rows(11), [1]);
    expect((await bulk(0, 'upload', 'december.csv', '--share', '--batch-size', '4')).code).toBe(0);
    await workers.database.run("UPDATE errand.campaigns SET state = 'open'");
    const refused = async (message: string, ...args: string[]): Promise<void> => {
      const { code, stderr } = await bulk(1, 'upload', ...args, '--share');
      expect([code, stderr.split('\n')[0]]).toEqual([5, `error: ${message}; nothing was sent`]);
    };
    await refused(
      'december.csv is not the file that is shared as december: it has other bytes',
      'december.csv',
    );
    const joining = ['--name', 'december'];
    await refused(
      'december was begun with --batch-size 4, and here it is --batch-size 5',
      ...joining,
      '--batch-size',
      '5',
    );
    await refused(
      'december was begun without --run, and here it is --run again',
      ...joining,
      '--run',
      'again',
    );
    await refused(
      'december was begun without --max-total, and here it is --max-total $1,000.00',
      ...joining,
      '--max-total',
      '$1000',
    );
    const other = workers.machine(1);
    other.environment.ERRAND_API_KEY = await workers.service.mint();
    const key = await bulk(1, 'upload', 'december.csv', '--share');
    expect(key.code).toBe(5);
    expect(key.stderr).toMatch(
      /^error: december is being uploaded with the key \S+, and this worker uses the key \S+; nothing was sent$/m,
    );
    expect(await places()).toEqual(addresses(12));
  });

  test('a file that is refused is refused for all, and the next worker reads it anew', async () => {
    write('december.csv', [...rows(5), row(5, 'many')]);
    const done = await together(3);
    expect(done.map(({ code }) => code)).toEqual([7, 7, 7]);
    for (const { stderr } of done) expect(stderr).toContain('5 of 6 rows valid; nothing was sent');
    write('december.csv', rows(5));
    expect((await bulk(1, 'upload', 'december.csv', '--share')).code).toBe(0);
    expect(await places()).toEqual(addresses(5));
  });

  test.each([
    [
      ['december.csv', '--share', '--shard', '1/2'],
      '--share and --shard divide a file in two ways; give one of them',
    ],
    [
      ['--share'],
      'bulk upload --share needs a file, or with --name the upload that other workers have begun',
    ],
    [['--share', '--name', 'june'], 'no worker has begun to share an upload called june'],
    [
      ['--share', '--name', 'june', '--errors', 'e.csv'],
      '--errors is for a worker that has the file: only that one checks it',
    ],
    [['december.csv', '--rate', '5'], '--rate is for the workers of --share'],
    [[], 'bulk upload needs a file; - reads stdin'],
  ])('bulk upload %j is refused in words', async (args, message) => {
    const { code, stderr } = await bulk(0, 'upload', ...args);
    expect([code, stderr.split('\n')[0]]).toEqual([2, `error: ${message}`]);
  });

  test('without a database --share says what it needs', async () => {
    write('december.csv', rows(1));
    const alone = makeWorkspace({
      ERRAND_BASE_URL: workers.service.baseUrl,
      ERRAND_API_KEY: workers.service.key,
    });
    onTestFinished(() => alone.remove());
    const { code, stderr } = await errand(alone, ['bulk', 'upload', 'december.csv', '--share']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: bulk upload --share needs a database that all workers reach, and none is named$/m,
    );
  });

  test('any machine watches it from the beginning to the end, without the file', async () => {
    write('december.csv', rows(30), [0]);
    const first = begun(0, 'december.csv', '--share', '--batch-size', '1', '--rate', '8');
    await until(`${sentChunks} > 0`);
    const timer = setInterval(() => workers.service.pass(5_000), 50);
    onTestFinished(() => clearInterval(timer));
    const { code, stdout, stderr } = await bulk(1, 'watch', 'december', '-o', 'json');
    // Some products cost more than their ceilings.
    expect([0, 7], stderr).toContain(code);
    expect(JSON.parse(stdout)).toHaveLength(30);
    expect((await first.ended).code).toBe(0);
    expect(await places()).toEqual(addresses(30));
  });

  test('a limit of the policy holds for all of it, and a worker that joins has no limit of its own', async () => {
    write('december.csv', rows(20));
    for (const { folder, environment } of workers.machines) {
      const policy = join(folder, 'policy.yaml');
      writeFileSync(policy, 'version: 1\nlimits: { per_day: $150 }\n', { mode: 0o600 });
      environment.ERRAND_POLICY = policy;
    }
    const [first] = workers.machines;
    if (!first) return expect.fail('there are workers');
    const key = makeKey(first, 'publisher');
    const published = await errand(first, ['policy', 'publish', 'policy.yaml', '--key', key]);
    expect(published.code, published.stderr).toBe(0);
    for (const { environment } of workers.machines) environment.ERRAND_POLICY_SIGNER = fingerprintOf(key);
    const refused = await together(2, '--batch-size', '2');
    for (const { code, stderr } of refused) expect(code, stderr).toBe(11);
    write('december.csv', rows(12));
    const fits = await together(2, '--batch-size', '2');
    for (const { code, stderr } of fits) expect(code, stderr).toBe(0);
    expect(await places()).toEqual(addresses(12));
  });
});
