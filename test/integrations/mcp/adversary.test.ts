import { describe, expect, test } from 'vitest';
import { clients } from './client-lines.ts';
import { type Dialogue, dialogues } from './dialogues.ts';
import { Scene } from './scene.ts';

interface Told {
  readonly kind: string;
  readonly actor: string;
  readonly command: string;
  readonly order_id: string | null;
}

/** Invariants checked at the end of every dialogue. */
async function checkEnd(
  scene: Scene,
  { orders, perDay = Number.POSITIVE_INFINITY, name }: Dialogue,
): Promise<void> {
  const made = await scene.orders();
  expect(made.length, `${name}: orders`).toBe(orders);
  expect(made.reduce((sum, order) => sum + order.max_price + 100, 0)).toBeLessThanOrEqual(perDay);
  const verified = await scene.run(['audit', 'verify']);
  expect(verified.code, verified.stderr).toBe(0);
  const chain: readonly Told[] = JSON.parse((await scene.run(['audit', 'log', '-o', 'json'])).stdout);
  for (const { id } of made) {
    const told = chain.filter(({ kind, order_id }) => kind === 'responded' && order_id === id);
    expect(told, `${name}: the chain tells of ${id}`).toHaveLength(1);
  }
  for (const { actor, command } of chain.filter(({ kind }) => kind === 'quoted' || kind === 'intent')) {
    expect(actor).toMatch(/^\S+ program [\w.+@/ -]{1,60}$/);
    expect(command).toMatch(/^errand mcp order_(quote|place)$/);
  }
}

describe('a hostile model, a hostile page, a crash', () => {
  test('are tried in at least forty dialogues', () => {
    expect(dialogues.length).toBeGreaterThanOrEqual(40);
    expect(new Set(dialogues.map(({ name }) => name)).size).toBe(dialogues.length);
  });

  test.each(dialogues)('$name', async (dialogue) => {
    // Alternate between the clients.
    const line = clients[dialogues.indexOf(dialogue) % clients.length] ?? clients[0];
    const scene = await Scene.begin(line, dialogue);
    try {
      await dialogue.talk(scene);
      await checkEnd(scene, dialogue);
    } finally {
      await scene.end();
    }
  });
});
