import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errand } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { checkOrders } from './checker.ts';
import { networkFaults } from './proxy.ts';
import { runIntent, type World } from './run.ts';
import { quiet, type Scenario } from './scenario.ts';
import { type Service, startService } from './service.ts';

const named: readonly (readonly [string, Partial<Scenario>])[] = [
  ['nothing listens at first', { refusedFirst: true }],
  [
    'kill -9 again and again, under a policy that the order just fits',
    {
      policy: true,
      sameAgain: true,
      blows: [60, 140, 180, 220].map((afterMs) => ({ signal: 'SIGKILL', afterMs })),
    },
  ],
  [
    'a CSV that just fits the policy, two processes at once, and resets',
    {
      what: 'csv',
      policy: true,
      sameAgain: true,
      crowd: 2,
      faults: ['reset-after', 'reset-after', 'reset-before'],
    },
  ],
  [
    'paid by challenge, under a policy that it just fits, kill -9 again and again',
    {
      what: 'paid',
      policy: true,
      sameAgain: true,
      blows: [120, 160, 200, 240].map((afterMs) => ({ signal: 'SIGKILL', afterMs })),
    },
  ],
  ['the proxy dies and comes back', { proxyDies: true }],
  ['kill -9 when the request has come', { blows: [{ signal: 'SIGKILL', at: 'request-came' }] }],
  ['kill -9 when the work is done', { blows: [{ signal: 'SIGKILL', at: 'work-done' }] }],
  [
    'kill -9 in the middle of the response',
    { faults: ['half-response'], blows: [{ signal: 'SIGKILL', at: 'half-responded' }] },
  ],
  [
    'SIGINT when the request has come',
    { faults: ['silence-after'], blows: [{ signal: 'SIGINT', at: 'work-done' }] },
  ],
  [
    'SIGTERM when the request has come',
    { faults: ['silence-after'], blows: [{ signal: 'SIGTERM', at: 'work-done' }] },
  ],
  ['two processes with one key', { ownKey: true, sameAgain: true, crowd: 2 }],
  [
    'two processes with one key, and a reset',
    { ownKey: true, sameAgain: true, crowd: 2, faults: ['reset-after', 'reset-before'] },
  ],
  [
    'the clock is set back an hour before the retry',
    { faults: ['reset-after', 'reset-after'], clockShiftMs: -3_600_000 },
  ],
  [
    'kill -9 again and again',
    { blows: [20, 60, 100, 140, 180].map((afterMs) => ({ signal: 'SIGKILL', afterMs })) },
  ],
  ['a CSV, two processes at once', { what: 'csv', sameAgain: true, crowd: 2 }],
  [
    'a CSV, kill -9 when the work is done',
    {
      what: 'csv',
      sameAgain: true,
      blows: [
        { signal: 'SIGKILL', at: 'work-done' },
        { signal: 'SIGKILL', at: 'work-done' },
      ],
    },
  ],
  ...[0, 4, 8].map((afterMs): readonly [string, Partial<Scenario>] => [
    `a CSV, SIGTERM ${afterMs} ms after its first batch is made`,
    { what: 'csv', sameAgain: true, blows: [{ signal: 'SIGTERM', at: 'work-done', afterMs }] },
  ]),
  ...(
    ['reset-after', 'silence-after', 'half-response', '500-after', '429-before', 'reset-before'] as const
  ).map((fault): readonly [string, Partial<Scenario>] => [
    `a CSV, ${fault}, five times`,
    { what: 'csv', sameAgain: true, faults: [fault, fault, fault, fault, fault] },
  ]),
  ['paid by challenge, two processes at once', { what: 'paid', ownKey: true, sameAgain: true, crowd: 2 }],
  [
    'paid by challenge, kill -9 when the work is done',
    {
      what: 'paid',
      ownKey: true,
      sameAgain: true,
      blows: [
        { signal: 'SIGKILL', at: 'work-done' },
        { signal: 'SIGKILL', at: 'work-done' },
      ],
    },
  ],
  ...(
    ['reset-after', 'silence-after', 'half-response', '500-after', '429-after', 'reset-before'] as const
  ).map((fault): readonly [string, Partial<Scenario>] => [
    `paid by challenge, ${fault}, four times`,
    { what: 'paid', ownKey: true, sameAgain: true, faults: [fault, fault, fault, fault] },
  ]),
  ['stdout is a full disk', { sameAgain: true, stdouts: ['full'] }],
  ['the reader of stdout has gone', { sameAgain: true, stdouts: ['closed'] }],
  [
    'Ctrl-C twice as the response comes',
    {
      sameAgain: true,
      blows: [0, 5, 10].map((afterMs) => ({ signal: 'SIGINT', twice: true, at: 'responded', afterMs })),
    },
  ],
  [
    'kill -9 a moment after the response, again and again',
    {
      sameAgain: true,
      blows: [1, 3, 6, 9, 12].map((afterMs) => ({ signal: 'SIGKILL', at: 'responded', afterMs })),
    },
  ],
  [
    'kill -9 a moment after a payment was taken, again and again',
    {
      what: 'paid',
      sameAgain: true,
      blows: [1, 4, 8].map((afterMs) => ({ signal: 'SIGKILL', at: 'responded', afterMs })),
    },
  ],
  [
    'the same command again, from another profile with the same key',
    { sameAgain: true, otherProfile: true, faults: ['reset-after', 'reset-after'] },
  ],
  [
    'two days lie between an order in doubt and the same command',
    { sameAgain: true, clockShiftMs: 48 * 3_600_000, faults: ['reset-after', 'reset-after'] },
  ],
  [
    'two days lie between a payment in doubt and the same command',
    {
      what: 'paid',
      sameAgain: true,
      clockShiftMs: 48 * 3_600_000,
      faults: ['none', 'reset-after', 'reset-after'],
    },
  ],
  ...(['reset-after', 'half-response', '502-html-after'] as const).map(
    (fault): readonly [string, Partial<Scenario>] => [
      `${fault}, and a service that spells fields its own way`,
      { normalises: true, sameAgain: true, faults: [fault, fault, fault] },
    ],
  ),
  [
    'four at once, with a service that is slow to respond',
    { sameAgain: true, crowd: 4, faults: ['slow-bytes'] },
  ],
  ...networkFaults.flatMap((fault): (readonly [string, Partial<Scenario>])[] => [
    [`${fault}, once`, { faults: [fault] }],
    [
      `${fault}, three times, with a key of one's own`,
      { ownKey: true, sameAgain: true, faults: [fault, fault, fault] },
    ],
  ]),
];

describe('one intent, one order, whatever breaks', () => {
  const services: Service[] = [];
  const worlds: World[] = [];
  const intents: string[][] = [[], []];

  beforeAll(async () => {
    for (const more of [[], ['--fault', 'normalise']]) {
      const service = await startService(...more);
      services.push(service);
      worlds.push({ baseUrl: service.baseUrl, shopUrl: service.shopUrl, key: await service.mint() });
    }
  });
  afterAll(async () => {
    for (const service of services) await service.stop();
  });

  test.each(named)('%s', async (name, more) => {
    const [plain, normalising] = worlds;
    if (!plain || !normalising) return expect.fail('no service was started');
    const scenario = { ...quiet, ...more };
    const seed = 1_000_000 + named.findIndex(([other]) => other === name);
    const report = await runIntent({ plain, normalising }, seed, scenario);
    const which = scenario.normalises ? 1 : 0;
    const [service, world, meant] = [services[which], worlds[which], intents[which]];
    if (!service || !world || !meant) return expect.fail('no service was started');
    meant.push(...report.intents);
    await service.untilPlaced(world.key);
    expect(report.lies).toEqual([]);
    const verdict = await checkOrders(service.baseUrl, [world.key], meant, await service.paidOrders());
    expect(verdict).toMatchObject({ missing: [], doubled: [], unrequested: [] });
  });
});

describe('a journal that cannot be written stops the order before it is sent', () => {
  let service: Service;
  let workspace: Workspace;

  beforeAll(async () => {
    service = await startService();
    workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: await service.mint() });
    const address = [
      '--first-name',
      'A',
      '--last-name',
      'B',
      '--address-line1',
      '1 Main St',
      '--city',
      'Austin',
    ];
    const rest = [
      '--state',
      'TX',
      '--postal-code',
      '78701',
      '--country',
      'US',
      '--phone-number',
      '5125550100',
    ];
    expect(await errand(workspace, ['address', 'add', 'home', ...address, ...rest])).toMatchObject({
      code: 0,
    });
  });
  afterAll(async () => {
    workspace.remove();
    await service.stop();
  });

  const order = () =>
    errand(workspace, [
      'order',
      'create',
      '--product',
      `${service.shopUrl}/test-success`,
      '--max-price',
      '$50',
      '--ship-to',
      'home',
    ]);

  test('a folder that cannot be made', async () => {
    writeFileSync(join(workspace.folder, 'file'), '');
    workspace.environment.ERRAND_STATE_DIR = join(workspace.folder, 'file', 'state');
    const { code, stderr } = await order();
    expect(code).toBe(1);
    // The message differs between Node versions.
    expect(stderr).toMatch(
      /state cannot be made or written \((?:a part of the path is not a folder|a file stands in its place)\)/,
    );
  });

  test('a journal that is damaged: it is named, and kept', async () => {
    const folder = join(workspace.folder, 'damaged');
    mkdirSync(folder);
    writeFileSync(join(folder, 'journal.db'), 'this is no database, whatever it may have been');
    workspace.environment.ERRAND_STATE_DIR = folder;
    const { code, stderr } = await order();
    expect(code).toBe(1);
    expect(stderr).toContain('journal.db');
    expect(stderr).toContain('damaged');
  });

  test('a file size limit, as a full disk would', async () => {
    workspace.environment.ERRAND_STATE_DIR = join(workspace.folder, 'full');
    const { shell } = await import('../support/run.ts');
    const line = `ulimit -f 8; errand order create --product ${service.shopUrl}/test-success --max-price '$50' --ship-to home`;
    const { code } = await shell(workspace, line);
    expect(code).not.toBe(0);
  });

  test('and the service has no order of all that', async () => {
    const key = workspace.environment.ERRAND_API_KEY ?? '';
    expect(await checkOrders(service.baseUrl, [key], [])).toMatchObject({ orders: 0 });
  });
});
