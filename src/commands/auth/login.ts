import { textIn } from '../../api/json.ts';
import type { Received } from '../../api/received.ts';
import { defineCommand } from '../../cli/define.ts';
import { checkKey, keyMode, maskKey } from '../../config/keys.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { shellLine } from '../../platform/shell-word.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { replaceOption } from './agree-to-replace.ts';
import { profileFor } from './profile-for.ts';
import { untilApproved } from './until-approved.ts';

const signIn = { command: 'errand auth login --profile NAME', when: 'to sign in there' };

export const login = defineCommand({
  name: 'login',
  summary: 'Sign in with a code that is approved in a browser',
  description:
    'Opens the browser when there is one, else prints the code; then waits. The key is stored for the profile; one that it has is kept beside it (auth list, auth use).',
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
    await tell(context, device, browser);
    const granted = await untilApproved(context, client, device);
    const key = checkKey(granted.api_key, 'the key in the response');
    const { storeKey } = await import('../../config/store-key.ts');
    const beside = await storeKey(store, {
      profile,
      key,
      service,
      replace,
      flags: whereFlags(context),
      now: context.clock.now(),
    });
    const mode = keyMode(key);
    const stored = `signed in: stored ${maskKey(key)} for profile ${profile}${mode ? ` (${mode})` : ''}`;
    return { kind: 'none', hints: [stored, ...beside, ...warnings(context, mode)] };
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

async function tell(context: Context, device: Received<'device.code'>, browser: boolean): Promise<void> {
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
  const where = uri === undefined ? 'where you sign in to the service' : `at ${uri}`;
  context.note(`enter the code ${code} ${where}`);
  if (whole === undefined || !browser || !context.interactive.yes) return;
  const { openBrowser } = await import('./browser.ts');
  if (await openBrowser(whole, context.environment)) context.note('opened it in the browser');
}
