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

  test('shows each row beside other clients by a line that runs', () => {
    const [, table = ''] = page?.text.split('## Beside other clients') ?? [];
    const [section = ''] = table.split('\n## ');
    const lines = [...section.matchAll(/^\|.*\| `(.*)` \|$/gm)].map(([, line = '']) => line);
    expect(lines.length).toBeGreaterThan(15);
    const source = `import { createHmac } from 'node:crypto';
import { createClient, operations, parseWebhook, schemaOf, ServiceError, waitFor } from 'errand';
import { startSandbox } from 'errand/sandbox';
const { baseUrl, apiKey, exampleOrder: order, close } = await startSandbox({ speed: 1000 });
const options = { baseUrl, apiKey };
const client = createClient(options);
const placed = (await client.call('order.create', { body: order })).body.id;
const [id, secret, body] = [crypto.randomUUID(), 'whsec_1', JSON.stringify({ id: placed })];
const signature = createHmac('sha256', secret).update(body).digest('hex');
${lines.map((line) => `{ ${line} }`).join('\n')}
await client.close();
await close();
console.log('all');
`;
    expect(project.compile({ 'table.ts': source })).toBe('');
    const { code, stdout, stderr } = project.run('table.js');
    expect([code, stderr, stdout.trim().split('\n').at(-1)]).toEqual([0, '', 'all']);
  });
});
