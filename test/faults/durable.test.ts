import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shell } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { hasStrace } from './sweep.ts';

/** A kill loses no completed write; a power cut loses whatever was not fsynced. */
test.skipIf(!hasStrace())(
  'what the journal holds of an order is on the disk before the order is sent',
  async () => {
    const service = await TestService.start();
    const workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
    try {
      const order = `errand order create --product ${service.product('test-success')} --max-price '$50' --ship-to -`;
      const address = JSON.stringify(
        (await service.send('POST', '/sandbox/keys', {}, null)).body.example_order.shipping_address,
      );
      const calls = 'pwrite64,write,writev,sendto,sendmsg,fsync,fdatasync';
      const line = `strace -f -y -s 80 -o trace -e trace=${calls} ${order}`;
      const { code, stderr } = await shell(workspace, line, { stdin: address });
      expect(code, stderr).toBe(0);
      const lines = readFileSync(join(workspace.folder, 'trace'), 'utf8').split('\n');
      const sent = lines.findIndex((one) => one.includes('POST /orders HTTP'));
      expect(sent).toBeGreaterThan(0);
      const before = lines.slice(0, sent).filter((one) => one.includes('journal.db-wal'));
      const written = before.findLastIndex((one) => /\bp?write(?:64|v)?\(/.test(one));
      expect(written).toBeGreaterThanOrEqual(0);
      expect(before.slice(written + 1).join('\n')).toMatch(/\bf(?:data)?sync\(/);
    } finally {
      workspace.remove();
      await service.stop();
    }
  },
);
