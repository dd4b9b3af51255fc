import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createContext } from '../../../src/cli/context.ts';
import { login } from '../../../src/commands/auth/login.ts';
import { SettingsStore } from '../../../src/config/store.ts';
import { ErrandError } from '../../../src/platform/errors.ts';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { TestService } from '../../support/service.ts';

let folder: string;
let service: TestService;
let notes: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-login-'));
  notes = '';
});
afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

interface Person {
  /** Hook called during each wait; `wait` counts from 1. */
  readonly during?: (wait: number) => unknown;
  /** How much the service's clock falls behind per wait, ms. */
  readonly lagMs?: number;
  readonly globals?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** Signs in for a profile of the service. @returns the length of each wait, ms, and the result. */
async function signIn({ during, lagMs = 0, globals, signal = new AbortController().signal }: Person = {}) {
  const stream = new Writable({
    write: (chunk, _, done) => {
      notes += chunk;
      done();
    },
  });
  const output = { stream, isTerminal: false, color: false, columns: () => undefined };
  const store = new SettingsStore(folder, () => {});
  await store.setProfile('served', () => ({ base_url: service.baseUrl }));
  const context = await createContext({
    argv: ['auth', 'login'],
    environment: { HOME: folder, ERRAND_CONFIG_DIR: folder, ERRAND_STATE_DIR: folder },
    platform: 'linux',
    pid: 1,
    io: {
      stdin: { stream: Readable.from([]), isTerminal: false },
      stdout: output,
      stderr: output,
      programFile: '',
    },
    signal,
    globals: { profile: 'served', retries: 0, ...globals },
    version: '0.0.0',
    repairsConfig: false,
    commands: async () => [],
    privateCommand: async () => 'errand auth login',
  });
  const waits: number[] = [];
  let now = Date.parse('2026-03-01T12:00:00Z');
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms);
    now += ms;
    service.pass(ms - lagMs);
    await during?.(waits.length);
    signal.throwIfAborted();
  };
  const clock = { now: () => now, monotonic: () => now, sleep };
  const failure: unknown = await login.run({ ...context, clock }, { name: 'laptop' }).then(
    (result) => {
      notes += JSON.stringify(result);
    },
    (error: unknown) => error,
  );
  await context.close();
  return { waits, exitCode: failure instanceof ErrandError ? failure.exitCode : failure, failure };
}

const decide = (decision: 'approve' | 'deny') =>
  service.send(
    'POST',
    '/device',
    new URLSearchParams({ user_code: /\b[A-Z]{4}-[A-Z]{4}\b/.exec(notes)?.[0] ?? '', decision }).toString(),
    null,
  );

const storedKey = (): string => new SettingsStore(folder, () => {}).profile('served')?.api_key ?? '';

test('the code and where to enter it are told, and once approved the key is stored and works', async () => {
  service = await TestService.start();
  const { waits, exitCode } = await signIn({ during: (wait) => wait === 2 && decide('approve') });
  expect([waits, exitCode]).toEqual([[5000, 5000], undefined]);
  expect(notes).toContain(`${service.baseUrl}/device`);
  expect((await service.send('GET', '/wallet/me', undefined, storedKey())).status).toBe(200);
  expect(notes).toContain(`stored sbx_test_…${storedKey().slice(-4)} for profile served (test)`);
  expect(notes).not.toContain(storedKey());
  expect(readFileSync(join(folder, 'config.json'), 'utf8')).toContain(storedKey());
});

test('slow_down makes the waits grow to what the service tells', async () => {
  service = await TestService.start();
  const person = { lagMs: 1000, during: (wait: number) => wait === 4 && decide('approve') };
  expect(await signIn(person)).toMatchObject({ waits: [5000, 5000, 10_000, 15_000], exitCode: undefined });
});

test('a denial ends it with 3, and nothing is stored', async () => {
  service = await TestService.start();
  expect(await signIn({ during: () => decide('deny') })).toMatchObject({ waits: [5000], exitCode: 3 });
  expect(storedKey()).toBe('');
});

test('a code that nobody approves ends with 3 when its time has passed', async () => {
  service = await TestService.start();
  const { waits, exitCode } = await signIn();
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(900_000);
  expect(exitCode).toBe(3);
});

test('--timeout ends it with 8', async () => {
  service = await TestService.start();
  expect(await signIn({ globals: { timeout: 12_000 } })).toMatchObject({
    waits: [5000, 5000, 2000],
    exitCode: 8,
  });
});

test('Ctrl-C while waiting ends it with 130', async () => {
  service = await TestService.start();
  const controller = new AbortController();
  const stop = (wait: number) =>
    wait === 2 && controller.abort(new ErrandError('interrupted', 'interrupted'));
  const { exitCode } = await signIn({ signal: controller.signal, during: stop });
  expect(exitCode).toBe(130);
});

test('trouble on the way ends nothing', async () => {
  const faults = ['reset-before:60%@POST /device/token', '503:50%@POST /device/token'];
  service = await TestService.start({ faults: faults.map((text) => readFault(text) ?? expect.fail(text)) });
  const { waits, exitCode } = await signIn({ during: (wait) => wait === 1 && decide('approve') });
  expect(exitCode).toBeUndefined();
  expect(waits.length).toBeGreaterThan(1);
});

test('a key of another service is not put into the profile', async () => {
  service = await TestService.start();
  const { exitCode, failure } = await signIn({ globals: { baseUrl: 'http://127.0.0.1:9' } });
  expect(exitCode).toBe(2);
  expect(String(failure)).toContain('--base-url names another service than profile served');
});
