import type { Store } from '../store/store.ts';

/** How users are called on the pages: by their email, or the beginning of their id. */
export function userNames(store: Store, ids: readonly (string | null)[]): (id: string | null) => string {
  const names = new Map<string, string>();
  for (const id of new Set(ids)) {
    if (id === null) continue;
    const email = store.get('SELECT email FROM users WHERE id = ?', id)?.email;
    names.set(id, typeof email === 'string' ? email : id.slice(0, 8));
  }
  return (id) => (id === null ? '' : (names.get(id) ?? id.slice(0, 8)));
}
