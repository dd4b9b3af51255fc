import { expect, onTestFinished, test } from 'vitest';
import { listOrders } from '../../../../src/sandbox/orders/handlers.ts';
import { Store } from '../../../../src/sandbox/store/store.ts';
import { copyOrders } from '../../../support/copy-orders.ts';
import { makeFolder } from '../../../support/folder.ts';
import { TestService } from '../../../support/service.ts';

/** A user with orders in a store that is opened twice, as by two processes. */
async function openTwice() {
  const folder = makeFolder();
  const file = `${folder.path}/sandbox.db`;
  const service = await TestService.start({ file });
  await service.order('test-never');
  await service.stop();
  await copyOrders(file, 10);
  const [store, other] = [await Store.open(file), await Store.open(file)];
  onTestFinished(async () => {
    await store.close();
    await other.close();
    folder.remove();
  });
  return { store, other, user: String(store.get('SELECT user_id FROM orders')?.user_id) };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('a page begins where its offset says, though another process changed the store while the page before was read', async () => {
  const { store, other, user } = await openTwice();
  await other.perform('DELETE FROM order_hosts');
  const ids = store.all('SELECT id FROM orders ORDER BY created_at DESC').map(({ id }) => String(id));
  const page = (offset: number) =>
    listOrders(store, user, { limit: 3, offset }).texts.map((text) => JSON.parse(text).id);
  const all = store.all.bind(store);
  store.all = (...read) => {
    const rows = all(...read);
    store.all = all;
    void other.perform('DELETE FROM orders WHERE id = ?', ids[0] ?? '');
    return rows;
  };
  expect(page(0)).toEqual(ids.slice(0, 3));
  await nextTurn();
  expect(page(3)).toEqual(ids.slice(4, 7));
});

test('a page that many ask for is read once, until anything changes', async () => {
  const { store, other, user } = await openTwice();
  const page = (offset = 0) => listOrders(store, user, { limit: 3, offset });
  const first = page();
  await nextTurn();
  expect(page()).toBe(first);
  expect(page(3).texts).not.toEqual(first.texts);
  expect(listOrders(store, 'another', { limit: 3, offset: 0 })).toEqual({ texts: [], total: 0 });
  await other.perform('UPDATE orders SET listed = ? WHERE listed = ?', '{}', page().texts[0] ?? '');
  await nextTurn();
  expect(page().texts).toEqual(['{}', ...first.texts.slice(1)]);
  await store.transaction(() => store.run('UPDATE orders SET listed = ? WHERE listed = ?', '[]', '{}'));
  expect(page().texts[0]).toBe('[]');
});
