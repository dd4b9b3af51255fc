import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePlace, type Place } from '../program/place.ts';
import { errand } from '../program/run.ts';
import { checkOrders } from './checker.ts';
import { networkFaults } from './proxy.ts';
import { runIntent, type World } from './run.ts';
import type { Scenario } from './scenario.ts';
import { type Service, startService } from './service.ts';

const quiet: Scenario = {
  what: 'order',
  ownKey: false,
  faults: [],
  blows: [],
  twice: false,
  refusedFirst: false,
  proxyDies: false,
  clockBackAtRetry: false,
};

const named: readonly (readonly [string, Partial<Scenario>])[] = [
  ['nothing listens at first', { refusedFirst: true }],
  ['the proxy dies and comes back', { proxyDies: true }],
  ['kill -9 when the request has come', { blows: [{ signal: 'SIGKILL', at: 'request-came' }] }],
  ['kill -9 when the work is done', { blows: [{ signal: 'SIGKILL', at: 'work-done' }] }],
  [
    'kill -9 in the middle of the answer',
    { faults: ['half-answer'], blows: [{ signal: 'SIGKILL', at: 'half-answered' }] },
  ],
  [
    'SIGINT when the request has come',
    { faults: ['silence-after'], blows: [{ signal: 'SIGINT', at: 'work-done' }] },
  ],
  [
    'SIGTERM when the request has come',
    { faults: ['silence-after'], blows: [{ signal: 'SIGTERM', at: 'work-done' }] },
  ],
  ['two processes with one key', { ownKey: true, twice: true }],
  [
    'two processes with one key, and a reset',
    { ownKey: true, twice: true, faults: ['reset-after', 'reset-before'] },
  ],
  [
    'the clock is set back an hour before the retry',
    { faults: ['reset-after', 'reset-after'], clockBackAtRetry: true },
  ],
  [
    'kill -9 again and again',
    { blows: [20, 60, 100, 140, 180].map((afterMs) => ({ signal: 'SIGKILL', afterMs })) },
  ],
  ['a CSV, two processes at once', { what: 'csv', twice: true }],
  [
    'a CSV, kill -9 when the work is done',
    {
      what: 'csv',
      blows: [
        { signal: 'SIGKILL', at: 'work-done' },
        { signal: 'SIGKILL', at: 'work-done' },
      ],
    },
  ],
  ...(
    ['reset-after', 'silence-after', 'half-answer', '500-after', '429-before', 'reset-before'] as const
  ).map((fault): readonly [string, Partial<Scenario>] => [
    `a CSV, ${fault}, five times`,
    { what: 'csv', faults: [fault, fault, fault, fault, fault] },
  ]),
  ['paid by challenge, two processes at once', { what: 'paid', ownKey: true, twice: true }],
  [
    'paid by challenge, kill -9 when the work is done',
    {
      what: 'paid',
      ownKey: true,
      blows: [
        { signal: 'SIGKILL', at: 'work-done' },
        { signal: 'SIGKILL', at: 'work-done' },
      ],
    },
  ],
  ...(['reset-after', 'silence-after', 'half-answer', '500-after', '429-after', 'reset-before'] as const).map(
    (fault): readonly [string, Partial<Scenario>] => [
      `paid by challenge, ${fault}, four times`,
      { what: 'paid', ownKey: true, faults: [fault, fault, fault, fault] },
    ],
  ),
  ...networkFaults.flatMap((fault): (readonly [string, Partial<Scenario>])[] => [
    [`${fault}, once`, { faults: [fault] }],
    [`${fault}, three times, with a key of one's own`, { ownKey: true, faults: [fault, fault, fault] }],
  ]),
];

describe('one intent, one order, whatever breaks', () => {
  let service: Service;
  let world: World;
  const intents: string[] = [];

  beforeAll(async () => {
    service = await startService();
    world = { baseUrl: service.baseUrl, shopUrl: service.shopUrl, key: await service.mint() };
  });
  afterAll(() => service.stop());

  test.each(named)('%s', { timeout: 60_000 }, async (name, more) => {
    const report = await runIntent(world, 1_000_000 + named.findIndex(([other]) => other === name), {
      ...quiet,
      ...more,
    });
    intents.push(...report.intents);
    await service.untilPlaced(world.key);
    expect(report.lies).toEqual([]);
    const verdict = await checkOrders(service.baseUrl, [world.key], intents, await service.paidOrders());
    expect(verdict).toMatchObject({ missing: [], doubled: [], unasked: [] });
  });
});

describe('a journal that cannot be written stops the order before it is sent', () => {
  let service: Service;
  let place: Place;

  beforeAll(async () => {
    service = await startService();
    place = makePlace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: await service.mint() });
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
    expect(await errand(place, ['address', 'add', 'home', ...address, ...rest])).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    place.remove();
    await service.stop();
  });

  const order = () =>
    errand(place, [
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
    writeFileSync(join(place.folder, 'file'), '');
    place.environment.ERRAND_STATE_DIR = join(place.folder, 'file', 'state');
    const { code, stderr } = await order();
    expect(code).toBe(1);
    expect(stderr).toContain('state cannot be made or written (a part of the path is no folder)');
  });

  test('a journal that is damaged: it is named, and kept', async () => {
    const folder = join(place.folder, 'damaged');
    mkdirSync(folder);
    writeFileSync(join(folder, 'journal.db'), 'this is no database, whatever it may have been');
    place.environment.ERRAND_STATE_DIR = folder;
    const { code, stderr } = await order();
    expect(code).toBe(1);
    expect(stderr).toContain('journal.db');
    expect(stderr).toContain('damaged');
  });

  test('a file size limit, as a full disk would', async () => {
    place.environment.ERRAND_STATE_DIR = join(place.folder, 'full');
    const { shell } = await import('../program/run.ts');
    const line = `ulimit -f 8; errand order create --product ${service.shopUrl}/test-success --max-price '$50' --ship-to home`;
    const { code } = await shell(place, line);
    expect(code).not.toBe(0);
  });

  test('and the service has no order of all that', async () => {
    const key = place.environment.ERRAND_API_KEY ?? '';
    expect(await checkOrders(service.baseUrl, [key], [])).toMatchObject({ orders: 0 });
  });
});
