import type { ForwardTarget } from '../../integrations/webhooks/forward.ts';
import { maskAddress } from '../../integrations/webhooks/listener.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import type { Context } from '../../run/context.ts';

/** What a registration applies to. The service keeps one registration per account, and a separate one for test mode. */
export const registrationScope = (context: Context): string =>
  JSON.stringify([
    context.settings.baseUrl.value,
    context.settings.profile.value,
    context.isRehearsal() ? 'test' : 'live',
  ]);

/**
 * Registers a listener's address for as long as it listens.
 * @returns a function that restores the earlier address. It can do so only if errand knows that address, because the
 * service does not return it. Never throws.
 */
export async function registerWhileListening(context: Context, url: string): Promise<() => Promise<void>> {
  const client = await context.lastingClient();
  const { registrations } = await context.webhooks();
  const scope = registrationScope(context);
  const id = await registrations.begin(scope, url);
  try {
    await client.call('webhook.register', { body: { webhook_url: url } }, { signal: context.signal });
  } catch (error) {
    await registrations.end(scope, id);
    throw error;
  }
  return async () => {
    const { isCurrent, earlier } = await registrations.end(scope, id);
    if (!isCurrent) return context.note('another address was registered meanwhile; it stays');
    if (earlier === undefined) return context.note(nothingBefore);
    try {
      await client.call('webhook.register', { body: { webhook_url: earlier } });
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

/** Address that events are forwarded to. @throws UsageError naming the flag if it is not an http address. */
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
