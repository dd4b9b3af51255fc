import type { AllHandlers } from '../server/handler.ts';

export const webhookHandlers = {
  'webhook.register': async ({ store, config }, { caller, body, now }) => {
    const { requireAddress } = await import('./address.ts');
    requireAddress(body.webhook_url, 'webhook_url', config);
    const sql =
      'INSERT INTO hook_addresses (user_id, url, updated_at) VALUES (?, ?, ?) ON CONFLICT (user_id) DO UPDATE SET url = excluded.url, updated_at = excluded.updated_at';
    await store.transaction(() => store.run(sql, caller.userId, body.webhook_url, now));
    return { value: { id: caller.userId, webhook_url: body.webhook_url } };
  },
} satisfies Partial<AllHandlers>;
