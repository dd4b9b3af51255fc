import { limits } from '../../api/limits.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { devicePath } from '../config.ts';
import { hashKey } from '../server/caller.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { secretToken } from '../store/identity.ts';
import type { Store } from '../store/store.ts';
import { mintKey } from './keys.ts';

/** Time within which a person must approve a code, in seconds. */
const lifetimeSeconds = 900;
/** Alphabet of user codes: consonants that are hard to confuse. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

/** Maximum number of pending codes per client address. */
const waitingAtOnce = 100;

/**
 * Starts a device sign-in with two codes: a secret code for the device, and a short code for the person. Stores only
 * the hashes of both codes.
 * @throws Refusal rate_limit_exceeded with `Retry-After`.
 */
export function startDevice(
  { store, config }: Service,
  { name, from, now }: { name: string | null; from: string; now: number },
): Promise<Shape<'DeviceCode'>> {
  return store.transaction(() => {
    store.run('DELETE FROM devices WHERE expires_at <= ?', now);
    refuseTooMany(store, from, now);
    const deviceCode = secretToken(32);
    const userCode = typed(secretToken(32));
    store.run(
      `INSERT INTO devices (code_hash, user_code_hash, name, state, interval_s, created_at, expires_at, asked_from)
       VALUES (?, ?, ?, 'pending', ?, ?, ?, ?)`,
      hashKey(deviceCode),
      hashKey(userCode),
      name,
      limits.deviceIntervalSeconds,
      now,
      now + lifetimeSeconds * 1000,
      from,
    );
    const uri = `${config.baseUrl}${devicePath}`;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: uri,
      verification_uri_complete: `${uri}?user_code=${userCode}`,
      expires_in: lifetimeSeconds,
      interval: limits.deviceIntervalSeconds,
      human_message: `Open ${uri} and enter the code ${userCode}.`,
      next: 'Show the code to a person, then POST /device/token with device_code every interval seconds.',
    };
  });
}

function refuseTooMany(store: Store, address: string, now: number): void {
  const row = store.get(
    'SELECT count(*) AS waiting, min(expires_at) AS first FROM devices WHERE asked_from = ?',
    address,
  );
  if (Number(row?.waiting) < waitingAtOnce) return;
  const seconds = Math.max(1, Math.ceil((Number(row?.first) - now) / 1000));
  throw new ErrorResponse(
    'rate_limit_exceeded',
    `${waitingAtOnce} device codes of this address wait already.`,
    { limit: waitingAtOnce },
    { 'retry-after': String(seconds) },
  );
}

const typed = (token: string): string => {
  const code = [...token].map((char) => letters[char.charCodeAt(0) % letters.length]).join('');
  return `${code.slice(0, 4)}-${code.slice(4, 8)}`;
};

/**
 * Handles a poll from the device. Returns the key once, after a person has approved.
 * @throws Refusal `authorization_pending` and `slow_down` with `interval`, `access_denied`, `expired_token`.
 */
export async function pollDevice(
  service: Service,
  deviceCode: string,
  now: number,
): Promise<Shape<'DeviceToken'>> {
  const { store, config } = service;
  const hash = hashKey(deviceCode);
  const polled = await store.transaction(() => {
    const row = store.get('SELECT * FROM devices WHERE code_hash = ?', hash);
    if (!row || row.state === 'spent' || Number(row.expires_at) <= now)
      throw new ErrorResponse('expired_token', 'This device code has expired, was used, or never was one.');
    if (row.state === 'denied') throw new ErrorResponse('access_denied', 'The sign-in was denied.');
    if (row.state === 'pending') return { waiting: notePoll(store, hash, row, now) };
    store.run("UPDATE devices SET state = 'spent' WHERE code_hash = ?", hash);
    const name = row.name === null ? null : String(row.name);
    const email = row.email === null ? null : String(row.email);
    return { name, minted: mintKey(service, { email, name, from: String(row.asked_from), now }) };
  });
  // Throw outside the transaction, so that the recorded poll is not rolled back.
  if ('waiting' in polled) throw polled.waiting;
  const { id, key } = polled.minted;
  return {
    id,
    key,
    api_key: key,
    name: polled.name,
    is_active: true,
    is_test: true,
    created_at: new Date(now).toISOString(),
    wallet_balance_cents: config.startBalanceCents,
  };
}

/** Records a poll. Polling too fast increases the interval permanently (RFC 8628, 3.5). */
function notePoll(
  store: Store,
  hash: string,
  row: Readonly<Record<string, unknown>>,
  now: number,
): ErrorResponse {
  const before = Number(row.interval_s);
  const sinceMs = row.polled_at === null ? Number.POSITIVE_INFINITY : now - Number(row.polled_at);
  // `sinceMs` is negative if the system clock was set back between the two polls.
  const isFast = sinceMs >= 0 && sinceMs < before * 1000;
  const interval = isFast ? before + limits.deviceIntervalSeconds : before;
  store.run('UPDATE devices SET polled_at = ?, interval_s = ? WHERE code_hash = ?', now, interval, hash);
  return isFast
    ? new ErrorResponse('slow_down', `Polled too fast; wait ${interval} seconds.`, { interval })
    : new ErrorResponse('authorization_pending', 'Nobody has approved yet.', { interval });
}

export type Decision = 'approved' | 'denied';

/**
 * Records a person's decision on a code; ignores case and dashes in the code. @returns false if no pending sign-in has
 * this code.
 */
export async function decideDevice(
  store: Store,
  typedCode: string,
  { decision, email, now }: { decision: Decision; email: string | null; now: number },
): Promise<boolean> {
  const code = typedCode.toUpperCase().replace(/[^A-Z]/g, '');
  const hash = hashKey(`${code.slice(0, 4)}-${code.slice(4)}`);
  const sql =
    "UPDATE devices SET state = ?, email = ? WHERE user_code_hash = ? AND state = 'pending' AND expires_at > ?";
  const { changes } = await store.transaction(() => store.run(sql, decision, email, hash, now));
  return changes > 0;
}
