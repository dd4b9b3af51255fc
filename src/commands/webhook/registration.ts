import { textIn } from '../../api/json.ts';
import type { ForwardTarget } from '../../integrations/webhooks/forward.ts';
import { maskAddress } from '../../integrations/webhooks/listener.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import type { Context } from '../../run/context.ts';

/**
 * Identifies what a registration applies to. The service stores one registration per account, and a separate one for
 * test mode.
 */
export const registrationScope = (context: Context): string =>
  JSON.stringify([
    context.settings.baseUrl.value,
    context.settings.profile.value,
    context.isRehearsal() ? 'test' : 'live',
  ]);

/**
 * Stores the signing secret from the response to a registration, if there is one. Never prints the secret.
 * @returns whether the response contains a secret.
 */
export async function saveSigningSecret(context: Context, response: unknown): Promise<boolean> {
  const secret = textIn(response, 'webhook_secret');
  if (secret === undefined || secret === '') return false;
  redactor.remember([secret]);
  await (await context.webhooks()).registrations.saveSecret(registrationScope(context), secret);
  return true;
}

/**
 * Registers a listener's address for as long as the listener runs. Never throws.
 * @returns a function that restores the earlier address. That is possible only if errand knows the earlier address,
 * because the service does not return it.
 */
export async function registerWhileListening(context: Context, url: string): Promise<() => Promise<void>> {
  const client = await context.lastingClient();
  const { registrations } = await context.webhooks();
  const scope = registrationScope(context);
  const id = await registrations.begin(scope, url);
  try {
    const { body } = await client.call(
      'webhook.register',
      { body: { webhook_url: url } },
      { signal: context.signal },
    );
    await saveSigningSecret(context, body);
  } catch (error) {
    await registrations.end(scope, id);
    throw error;
  }
  return async () => {
    const { isCurrent, earlier } = await registrations.end(scope, id);
    if (!isCurrent) return context.note('another address was registered meanwhile; it stays');
    if (earlier === undefined) return context.note(nothingBefore);
    try {
      const { body } = await client.call('webhook.register', { body: { webhook_url: earlier } });
      await saveSigningSecret(context, body);
      context.note(`registered ${maskAddress(earlier)} again`);
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      await context.report(error);
      context.note(`${maskAddress(earlier)} is not registered again; errand webhook register puts it back`);
    }
  };
}

const nothingBefore =
  'the service cannot remove an address, and no earlier one is known: events go to this one until `errand webhook register URL` sets another';

const defaultRetries = 4;

/**
 * Address to which events are forwarded.
 * @throws UsageError naming the flag if it is not an http address.
 */
export function forwardTarget(
  context: Context,
  flag: string,
  url: string,
  allowPrivate: boolean,
): ForwardTarget {
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? ''))
    throw new UsageError(`${flag} takes an http or https address, such as http://127.0.0.1:3000/hooks`);
  return {
    url,
    allowPrivate,
    retries: context.settings.retries.value ?? defaultRetries,
    clock: context.clock,
    version: context.version,
  };
}
