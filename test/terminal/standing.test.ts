import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace } from '../support/workspace.ts';

const adding = [
  ...['standing', 'add', 'coffee', '--product', 'https://shop.example/a', '--max-price', '$50'],
  ...['--first-name', 'Ada', '--last-name', 'Example', '--address-line1', '100 Congress Avenue'],
  ...['--city', 'Austin', '--state', 'TX', '--postal-code', '78701', '--country', 'US'],
  ...['--phone-number', '5125550100', '--every', '2w', '--starts', '2090-01-01'],
];

test.each([
  { typed: 'yes', code: 0 },
  { typed: 'y', code: 130 },
])(
  'a standing order for a live key takes a typed yes: "$typed" exits with $code',
  async ({ typed, code }) => {
    const server = createServer((_, response) => void response.writeHead(401).end('{}'));
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const workspace = makeWorkspace({
      ERRAND_API_KEY: 'zk_live_0123456789abcdef0123456789abcdef',
      ERRAND_BASE_URL: `http://127.0.0.1:${Object(server.address()).port}`,
    });
    onTestFinished(workspace.remove);
    const terminal = new Terminal(workspace, 'errand', adding);
    onTestFinished(() => terminal.close());
    await terminal.shows('Type yes to have this bought with real money on each date');
    expect(terminal.text).toContain("ceiling  $50.00 and the service's fee, each time");
    terminal.type(`${typed}\r`);
    expect(await terminal.ended(), terminal.text).toBe(code);
    const file = join(workspace.folder, '.config/standing.yaml');
    expect(existsSync(file)).toBe(code === 0);
    if (code === 0) expect(readFileSync(file, 'utf8')).toContain('live: true');
  },
);
