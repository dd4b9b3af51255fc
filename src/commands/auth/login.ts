import type { Context } from '../../context.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import { ErrandError, UsageError } from '../../errors.ts';
import type { Client } from '../../http/client.ts';
import { checkKey, keyMode, maskKey } from '../../settings/keys.ts';
import { embeddedUrl } from '../../settings/stored.ts';
import { defineCommand } from '../define.ts';

/** The codes that mean: keep waiting. */
const waiting: ReadonlySet<string | undefined> = new Set(['authorization_pending', 'slow_down']);
const usualIntervalSeconds = 5;

export const login = defineCommand({
  name: 'login',
  summary: 'Sign in with a code that is approved in a browser',
  description:
    'Opens the browser when there is one, else prints the code; then waits. The key is stored for the profile.',
  options: {
    name: { kind: 'text', description: 'name of the key, to tell it from others' },
    browser: { kind: 'yes-no', description: 'open the browser where there is one (default)' },
  },
  examples: [
    { command: 'errand auth login --name laptop --dry-run', note: 'the first request, not sent' },
    { command: 'errand auth login --no-browser', note: 'approve on another device' },
  ],
  operations: ['device.code', 'device.token'],
  exitCodes: { 3: 'denied, or the code has expired', 8: '--timeout passed; nobody had approved' },
  related: ['auth token', 'auth status'],
  async run(context, { name, browser = true }) {
    const { value: profile } = context.settings.profile;
    const store = await context.store();
    if (!store.profile(profile)) throw new UsageError(`there is no profile "${profile}"`);
    const client = await context.client();
    const { body: device } = await client.call('device.code', { body: { ...(name && { name }) } });
    await tell(context, device, browser);
    const granted = await untilApproved(context, client, device);
    const key = checkKey(granted.api_key, 'the key of the answer');
    await store.setProfile(profile, (before) => {
      if (!before) throw new UsageError(`there is no profile "${profile}"`);
      return { ...before, api_key: key };
    });
    const mode = keyMode(key);
    const stored = `signed in: stored ${maskKey(key)} for profile ${profile}${mode ? ` (${mode})` : ''}`;
    return {
      kind: 'none',
      hints: mode === 'live' ? [stored, 'orders with this key spend real money'] : [stored],
    };
  },
});

async function tell(context: Context, device: Shape<'DeviceCode'>, browser: boolean): Promise<void> {
  const { user_code: code, verification_uri: uri, verification_uri_complete: whole } = device;
  if (context.settings.baseUrl.value === embeddedUrl) {
    context.note(`code ${code}`);
    context.note(
      `the embedded sandbox has no page; approve it with: errand sandbox trigger device-approve ${code}`,
    );
    return;
  }
  context.note(`enter the code ${code} at ${uri}`);
  if (!browser || !context.interactive.yes) return;
  const { openBrowser } = await import('./browser.ts');
  if (await openBrowser(whole)) context.note('opened it in the browser');
}

/** Polls at the interval it is told. @throws ErrandError authentication where it is denied or expires; deadline. */
async function untilApproved(
  context: Context,
  client: Client,
  device: Shape<'DeviceCode'>,
): Promise<Shape<'DeviceToken'>> {
  const { clock, signal } = context;
  const timeoutMs = context.waitMs();
  const expiresAt = clock.now() + device.expires_in * 1000;
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs;
  let seconds = device.interval || usualIntervalSeconds;
  for (;;) {
    const left = deadline - clock.now();
    if (left <= 0) throw new ErrandError('deadline', '--timeout passed; nobody had approved the code');
    await clock.sleep(Math.min(seconds * 1000, left), signal);
    try {
      return (await client.call('device.token', { body: { device_code: device.device_code } })).body;
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      const isBlip = error.category === 'unavailable' && clock.now() < expiresAt;
      if (!isBlip && !waiting.has(error.facts.code)) throw refused(error);
      seconds =
        intervalIn(error) ?? (error.facts.code === 'slow_down' ? seconds + usualIntervalSeconds : seconds);
    }
  }
}

function intervalIn({ facts: { details } }: ErrandError): number | undefined {
  const interval: unknown = Object(details).interval;
  return typeof interval === 'number' && interval > 0 && interval <= 600 ? interval : undefined;
}

function refused(error: ErrandError): ErrandError {
  const { code } = error.facts;
  if (code !== 'access_denied' && code !== 'expired_token') return error;
  return new ErrandError('authentication', error.message, {
    ...error.facts,
    cause: error,
    next: [{ command: 'errand auth login', when: 'to begin anew' }],
  });
}
