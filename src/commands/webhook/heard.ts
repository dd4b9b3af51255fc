import { own } from '../../api/json.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { registrationScope } from './registration.ts';

/** Whether events of an order can be received on this machine, and what to do where that is doubtful. */
export interface Hearing {
  readonly isHeard: boolean;
  readonly advice?: string;
}

/**
 * Whether somebody listens on this machine, and an address that leads there is known for these events of an order: the one that
 * is registered, or one of the order's own.
 */
export async function hearingOf(
  context: Context,
  orderId: string,
  names: readonly string[],
): Promise<Hearing> {
  const { value: baseUrl } = context.settings.baseUrl;
  const { listeners, registrations } = await context.webhooks();
  const addresses = await listeners.addresses(baseUrl);
  const service = baseUrl === embeddedUrl ? 'the embedded sandbox' : baseUrl;
  if (addresses.length === 0)
    return {
      isHeard: false,
      advice: `no \`errand webhook listen\` is running on this machine for ${service}, and events are received only while one is; start \`errand webhook listen --register\` beside this`,
    };
  const known = [registrations.standing(registrationScope(context)), ...(await ownAddresses())];
  if (addresses.some((address) => address === '' || known.includes(address))) return { isHeard: true };
  return {
    isHeard: true,
    advice: `\`errand webhook listen\` is running, but no address of it is registered here for ${service}, so events may not reach it; \`errand webhook listen --register\` registers one`,
  };

  /** Those that the order names for these events, where this machine ordered it. */
  async function ownAddresses(): Promise<unknown[]> {
    if (!journalExists(context.settings)) return [];
    try {
      const webhooks = own((await context.journal()).madeBy(orderId, baseUrl)?.body, 'webhooks');
      return names.flatMap((name) => own(webhooks, name) ?? []);
    } catch (error) {
      // A broken journal stops no wait.
      if (error instanceof StorageError) return [];
      throw error;
    }
  }
}
