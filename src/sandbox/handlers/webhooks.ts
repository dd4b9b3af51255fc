import { refusedAddress } from '../deliveries/address.ts';
import type { Handlers } from '../handler.ts';
import { Refusal } from '../refusal.ts';

export const webhookHandlers: Handlers = {
  'webhook.register': ({ store, config }, { caller, body, now }) => {
    const refused = refusedAddress(new URL(body.webhook_url), config.allowExternalWebhooks);
    if (refused !== undefined)
      throw new Refusal('bad_request', `This sandbox does not call that address: ${refused}.`, {
        hint: 'errand sandbox serve --allow-external-webhooks calls others',
      });
    store.run(
      'INSERT INTO hook_addresses (user_id, url, updated_at) VALUES (?, ?, ?) ON CONFLICT (user_id) DO UPDATE SET url = excluded.url, updated_at = excluded.updated_at',
      caller.userId,
      body.webhook_url,
      now,
    );
    return { value: { id: caller.userId, webhook_url: body.webhook_url } };
  },
};
