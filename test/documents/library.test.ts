import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { packedProject } from '../support/packed.ts';
import { serveAt } from '../support/served.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { blocksOf, pages } from './markdown.ts';

const page = pages.find(({ name }) => name === 'docs/library.md');
const project = packedProject();
afterAll(() => project.remove());

describe('docs/library.md', () => {
  const blocks = page ? blocksOf(page, 'ts').map((block, index) => ({ number: index + 1, block })) : [];

  test('has examples', () => {
    expect(blocks.length).toBeGreaterThan(1);
  });

  test.each(blocks)('example $number compiles and runs with the packed package', async ({ block }) => {
    const workspace = makeWorkspace();
    onTestFinished(() => workspace.remove());
    const { url } = await serveAt(workspace);
    const minted = await fetch(`${url}/sandbox/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    const { api_key: key }: { api_key: string } = JSON.parse(await minted.text());
    const folder = join(workspace.folder, 'orders');
    const shop = `${url}/shop/test-success`;
    const here = block
      .replaceAll('/var/lib/shop/orders', folder)
      .replaceAll('https://harborgoods.example/lamp', shop);
    expect(project.compile({ 'example.ts': here })).toBe('');
    const environment = { SERVICE_URL: url, SERVICE_KEY: key };
    const { code, stdout, stderr } = project.run('example.js', environment);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toBe('');
  });
});
