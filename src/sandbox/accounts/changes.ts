import { failWaitingFor } from '../orders/interventions.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';

/** Deletes an account. Orders that wait for the account fail. @param now is in ms since the epoch. */
export async function deleteAccount(service: Service, id: string, now: number): Promise<void> {
  await service.store.transaction(() => service.store.run('DELETE FROM accounts WHERE id = ?', id));
  await failWaitingFor(service, id, now);
}

/** Records the first message to an account's forwarding address. @param now is in ms since the epoch. */
export const noteForwarded = (store: Store, id: string, now: number): Promise<unknown> =>
  store.transaction(() =>
    store.run('UPDATE accounts SET forwarded_at = ?, updated_at = ? WHERE id = ?', now, now, id),
  );
