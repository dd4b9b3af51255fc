import { numberIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import type { Received } from '../../api/received.ts';
import type { Client } from '../../http/client.ts';
import { ErrandError } from '../../platform/errors.ts';
import { Deadline } from '../../platform/wait/deadline.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';

/** The codes that mean: keep waiting (specification, Device approval polling). */
const waiting: ReadonlySet<string | undefined> = new Set(['authorization_pending', 'slow_down']);
const usualIntervalSeconds = limits.deviceIntervalSeconds;
/** What a service can ask for; anything longer is no interval. */
const longestIntervalSeconds = 600;
/** How long a code lives where the service does not say (RFC 8628 leaves it open), and at most. */
const usualLifeSeconds = 900;
const longestLifeSeconds = 24 * 3600;

/**
 * Polls at the interval that the service sets, until the code's own end or --timeout.
 * @throws ErrandError authentication where it is denied or expires; deadline.
 */
export async function untilApproved(
  context: Pick<Context, 'clock' | 'signal' | 'waitMs' | 'settings'>,
  client: Client,
  device: Received<'device.code'>,
): Promise<Received<'device.token'>> {
  const { clock, signal } = context;
  const life = new Deadline(
    clock,
    secondsIn(device, 'expires_in', longestLifeSeconds, usualLifeSeconds) * 1000,
  );
  const deadline = new Deadline(clock, context.waitMs());
  let seconds = secondsIn(device, 'interval', longestIntervalSeconds, usualIntervalSeconds);
  for (;;) {
    if (deadline.leftMs === 0) throw late();
    if (!(await life.pause(Math.min(seconds * 1000, deadline.leftMs), signal))) throw expired(context);
    try {
      return (await client.call('device.token', { body: { device_code: device.device_code } })).body;
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      if (!waiting.has(error.facts.code) && !isBlip(error)) throw refused(context, error);
      seconds = nextInterval(seconds, error);
    }
  }
}

/** Trouble on the way ends nothing: the code goes on waiting. A good status with a strange body is no such trouble. */
const isBlip = ({ category, facts: { status } }: ErrandError): boolean =>
  (category === 'unavailable' || category === 'deadline') && (status === undefined || status >= 400);

/** A span that the service names; the usual one where it names none that can be. */
function secondsIn(from: unknown, name: string, longest: number, usual: number): number {
  const seconds = numberIn(from, name);
  return seconds !== undefined && seconds > 0 && seconds <= longest ? seconds : usual;
}

/** Seconds until the next poll: what the service tells, and more than before where that was too fast (RFC 8628, 3.5). */
function nextInterval(seconds: number, { facts: { code, details, retryAfterMs = 0 } }: ErrandError): number {
  const unnamed = Math.max(seconds, retryAfterMs / 1000);
  const requested = secondsIn(details, 'interval', longestIntervalSeconds, unnamed);
  return code === 'slow_down' && requested <= seconds ? seconds + usualIntervalSeconds : requested;
}

const late = (): ErrandError => new ErrandError('deadline', '--timeout passed; nobody had approved the code');
const anew = (context: Pick<Context, 'settings'>) => [
  { command: `errand auth login${whereFlags(context)}`, when: 'to begin anew' },
];
const expired = (context: Pick<Context, 'settings'>): ErrandError =>
  new ErrandError('authentication', 'the code has expired; nobody had approved it', {
    code: 'expired_token',
    next: anew(context),
  });

function refused(context: Pick<Context, 'settings'>, error: ErrandError): ErrandError {
  const { code } = error.facts;
  if (code !== 'access_denied' && code !== 'expired_token') return error;
  return new ErrandError('authentication', error.message, {
    ...error.facts,
    cause: error,
    next: anew(context),
  });
}
