import { numberIn, textIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import type { Received } from '../../api/received.ts';
import { defineCommand } from '../../cli/define.ts';
import { checkKey, keyMode, maskKey } from '../../config/keys.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { durationText } from '../../format/time.ts';
import type { Client } from '../../http/client.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError, stopOf } from '../../platform/errors.ts';
import { pageAt } from '../../platform/net/page.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { profileFor, replaceOption } from './profile-for.ts';

const signIn = { command: 'errand auth login --profile NAME', when: 'to sign in there' };

export const login = defineCommand({
  name: 'login',
  summary: 'Sign in with a code that is approved in a browser',
  description:
    'Opens the page that it shows in the browser when there is one, else prints the code; then waits. A page that is not encrypted, or has a user in its address, is not opened. The key is stored for the profile; one that it has is kept beside it (auth list, auth use).',
  options: {
    name: { kind: 'text', description: 'name of the key, to tell it from others' },
    browser: { kind: 'yes-no', description: 'open the browser where there is one (default)' },
    ...replaceOption,
  },
  examples: [
    { command: 'errand auth login --name laptop --dry-run', note: 'the first request, not sent' },
    { command: 'errand auth login --no-browser', note: 'approve on another device' },
  ],
  output: { nothing: true },
  operations: ['device.code', 'device.token'],
  exitCodes: { 3: 'denied, or the code has expired', 8: '--timeout passed; nobody had approved' },
  related: ['auth token', 'auth status'],
  async run(context, { name, browser = true, replace = false }) {
    const { value: profile } = context.settings.profile;
    const store = await context.store();
    const { base_url: service } = profileFor(context, store.profile(profile), signIn);
    const client = await context.client();
    const { body: device } = await client.call('device.code', { body: { ...(name && { name }) } });
    await reportCode(context, device, browser);
    if (context.io.stderr.isTerminal) {
      const lifeMs = secondsIn(device, 'expires_in', maxLifeSeconds, defaultLifeSeconds) * 1000;
      const waitMs = Math.min(lifeMs, context.waitMs() ?? lifeMs);
      context.note(
        `waiting until the code is approved, for up to ${durationText(waitMs)}; Ctrl-C ends the wait`,
      );
    }
    const granted = await untilApproved(context, client, device).catch(sayNothingStored);
    const key = checkKey(granted.api_key, 'the key in the response');
    const { storeKey } = await import('../../config/store-key.ts');
    const keyHints = await storeKey(store, {
      profile,
      key,
      service,
      replace,
      flags: whereFlags(context),
      now: context.clock.now(),
    });
    const mode = keyMode(key);
    const stored = `signed in: stored ${maskKey(key)} for profile ${profile}${mode ? ` (${mode})` : ''}`;
    return { kind: 'none', hints: [stored, ...keyHints, ...warnings(context, mode)] };
  },
});

function warnings({ settings: { apiKey } }: Context, mode: 'test' | 'live' | undefined): string[] {
  return [
    ...(mode === 'live' ? ['orders with this key spend real money'] : []),
    ...(apiKey?.from === 'environment'
      ? [`warning: ${apiKey.name} is set and goes before the stored key`]
      : []),
  ];
}

async function reportCode(
  context: Context,
  device: Received<'device.code'>,
  browser: boolean,
): Promise<void> {
  const { user_code: code } = device;
  const uri = textIn(device, 'verification_uri');
  const whole = textIn(device, 'verification_uri_complete') ?? uri;
  if (context.settings.baseUrl.value === embeddedUrl) {
    context.note(`code ${code}`);
    context.note(
      `the embedded sandbox has no page; approve it with: ${shellLine`errand sandbox trigger device-approve ${code}`}`,
    );
    return;
  }
  const { openBrowser } = await import('./browser.ts');
  const service = new URL(context.settings.baseUrl.value);
  const page = uri === undefined ? undefined : pageAt(uri, service);
  const where = page && 'url' in page ? `at ${page.url.href}` : 'where you sign in to the service';
  context.note(`enter the code ${code} ${where}`);
  const target = whole === uri || whole === undefined ? page : pageAt(whole, service);
  if (target && 'problem' in target)
    context.note(`errand does not open the address ${redactor.text(whole ?? '')}: it ${target.problem}`);
  if (!target || 'problem' in target || !browser || !context.interactive.yes) return;
  // Show the address to the user before opening it in the browser.
  if (target !== page) context.note(`with the code filled in: ${target.url.href}`);
  if (await openBrowser(target.url, context.environment)) context.note('opened it in the browser');
}

/** Adds to an interruption what it leaves undone. */
function sayNothingStored(error: unknown): never {
  const how = stopOf(error);
  throw how ? new ErrandError(how, `${how}; no key was stored`, { cause: error }) : error;
}

/** Error codes that tell the client to continue polling (specification, Device approval polling). */
const waiting: ReadonlySet<string | undefined> = new Set(['authorization_pending', 'slow_down']);
const defaultIntervalSeconds = limits.deviceIntervalSeconds;
/** Maximum polling interval accepted from the service, in seconds; longer values are ignored. */
const maxIntervalSeconds = 600;
/**
 * Default and maximum lifetime of a code, in seconds. The default applies if the service states no lifetime (RFC 8628
 * leaves the default open).
 */
const defaultLifeSeconds = 900;
const maxLifeSeconds = 24 * 3600;

/**
 * Polls at the service's interval until the code expires or --timeout passes.
 * @throws ErrandError authentication if the code is denied or expires; deadline.
 */
async function untilApproved(
  context: Pick<Context, 'clock' | 'signal' | 'waitMs' | 'settings'>,
  client: Client,
  device: Received<'device.code'>,
): Promise<Received<'device.token'>> {
  const { clock, signal } = context;
  const life = new Deadline(
    clock,
    secondsIn(device, 'expires_in', maxLifeSeconds, defaultLifeSeconds) * 1000,
  );
  const deadline = new Deadline(clock, context.waitMs());
  let seconds = secondsIn(device, 'interval', maxIntervalSeconds, defaultIntervalSeconds);
  for (;;) {
    if (deadline.leftMs === 0) throw late();
    if (!(await life.pause(Math.min(seconds * 1000, deadline.leftMs), signal))) throw expired(context);
    try {
      return (await client.call('device.token', { body: { device_code: device.device_code } })).body;
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      if (!waiting.has(error.facts.code) && !isTransient(error)) throw refused(context, error);
      seconds = nextInterval(seconds, error);
    }
  }
}

/**
 * A transient failure leaves the code pending, so polling continues. A success status with a malformed body is not
 * transient.
 */
const isTransient = ({ category, facts: { status } }: ErrandError): boolean =>
  (category === 'unavailable' || category === 'deadline') && (status === undefined || status >= 400);

/**
 * Reads a duration in seconds from the service's response. Returns the default if the duration is missing or out of
 * range.
 */
function secondsIn(from: unknown, name: string, maxSeconds: number, defaultSeconds: number): number {
  const seconds = numberIn(from, name);
  return seconds !== undefined && seconds > 0 && seconds <= maxSeconds ? seconds : defaultSeconds;
}

/**
 * Seconds until the next poll. This is the interval that the service requests, increased after `slow_down` (RFC 8628,
 * 3.5).
 */
function nextInterval(seconds: number, { facts: { code, details, retryAfterMs = 0 } }: ErrandError): number {
  const unnamed = Math.max(seconds, retryAfterMs / 1000);
  const requested = secondsIn(details, 'interval', maxIntervalSeconds, unnamed);
  return code === 'slow_down' && requested <= seconds ? seconds + defaultIntervalSeconds : requested;
}

const late = (): ErrandError => new ErrandError('deadline', '--timeout passed; nobody had approved the code');
const again = (context: Pick<Context, 'settings'>) => [
  { command: `errand auth login${whereFlags(context)}`, when: 'to begin anew' },
];
const expired = (context: Pick<Context, 'settings'>): ErrandError =>
  new ErrandError('authentication', 'the code has expired; nobody had approved it', {
    code: 'expired_token',
    next: again(context),
  });

function refused(context: Pick<Context, 'settings'>, error: ErrandError): ErrandError {
  const { code } = error.facts;
  if (code !== 'access_denied' && code !== 'expired_token') return error;
  return new ErrandError('authentication', error.message, {
    ...error.facts,
    cause: error,
    next: again(context),
  });
}
