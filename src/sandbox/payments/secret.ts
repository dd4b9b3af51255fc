import { randomBytes } from 'node:crypto';
import type { Service } from '../service.ts';

const name = 'payment_secret';

/**
 * The key behind challenge ids and temporary keys: made once for a store and kept in it, sealed, since whoever has it
 * can read every order that was paid by challenge.
 */
export async function paymentSecret(service: Pick<Service, 'store' | 'sealer'>): Promise<Buffer> {
  const { store } = service;
  const sealer = await service.sealer();
  const kept = (): string | undefined => {
    const sealed = store.meta(name);
    return sealed === undefined ? undefined : sealer.open(sealed, name);
  };
  return Buffer.from(kept() ?? (await store.transaction(() => kept() ?? make())), 'base64');

  function make(): string {
    const fresh = randomBytes(32).toString('base64');
    store.setMeta(name, sealer.seal(fresh, name));
    return fresh;
  }
}
