import { controlPath } from '../../api/control.ts';
import { listIn, own } from '../../api/json.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { ErrandError } from '../../platform/errors.ts';
import { isLoopback } from '../../platform/net/lookup.ts';
import type { Context } from '../../run/context.ts';

/** What cannot go on in the sandbox that is named; nothing of any other service. */
export async function stuckIn(context: Context): Promise<readonly string[]> {
  const { value } = context.settings.baseUrl;
  if (value !== embeddedUrl && !isLoopback(new URL(value).hostname)) return [];
  try {
    const client = await context.client();
    const response = await client.raw({ method: 'GET', path: controlPath, isKeyless: true });
    const state = 'json' in response ? response.json : undefined;
    if (own(state, 'sandbox') !== 'errand') return [];
    return listIn(state, 'stuck').filter((id) => typeof id === 'string');
  } catch (error) {
    // No sandbox, or one that does not say it to this user.
    if (error instanceof ErrandError) return [];
    throw error;
  }
}
