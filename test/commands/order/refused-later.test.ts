import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { json, peer, reset } from '../../support/peer.ts';
import { errand, shell } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace } from '../../support/workspace.ts';

test('an order in doubt that is refused when it is resumed is told as that, with the way out', async () => {
  const short = { code: 'insufficient_funds', message: 'The wallet is empty.', details: {} };
  const service = await peer(reset, json(short, 402));
  const workspace = makeWorkspace({
    ERRAND_BASE_URL: service.url,
    ERRAND_API_KEY: 'xx_test_0123456789abcdef0123',
  });
  onTestFinished(workspace.remove);
  writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(orderBody('https://shop.example/1')));
  const args = ['order', 'create', '--file', 'order.json', '--idempotency-key', 'k1', '--retries', '0'];
  const first = await errand(workspace, args);
  expect(first).toMatchObject({
    code: 10,
    stderr: expect.stringContaining('was sent, but its outcome is unknown'),
  });
  const again = await errand(workspace, ['order', 'journal', 'resume', 'k1', '-o', 'json']);
  expect(again.code).toBe(10);
  const { error } = JSON.parse(again.stderr);
  expect(error.message).toContain('may have been made by an earlier attempt, and is refused now');
  expect(error.next).toMatchObject([
    { command: 'errand order list' },
    { command: 'errand order journal forget k1' },
  ]);
});

test('a doubt is ended with the printed command, whatever the key looks like, and keys are read from stdin', async () => {
  const service = await TestService.start({ now: Date.now() });
  const away = await peer(reset);
  const workspace = makeWorkspace({ ERRAND_API_KEY: service.key });
  onTestFinished(async () => {
    await service.stop();
    workspace.remove();
  });
  for (const [index, key] of ['my own; key', '-x', "it's"].entries()) {
    const order = { ...orderBody(service.product('test-success')), max_price: 5000 + index };
    writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(order));
    workspace.environment.ERRAND_BASE_URL = away.url;
    const args = ['order', 'create', '--file', 'order.json', `--idempotency-key=${key}`, '--retries', '0'];
    const { code, stderr } = await errand(workspace, [...args, '-o', 'json']);
    expect(code, stderr).toBe(10);
    const [step] = JSON.parse(stderr).error.next;
    const resumed = await shell(
      workspace,
      `${step.command} --retries 0`.replace(/ -- (.*) --retries 0/, ' --retries 0 -- $1'),
    );
    expect(resumed.code, resumed.stderr).toBe(10);
    expect(resumed.stderr).toContain(`idempotency key ${key}`);
  }
  const listed = await shell(
    workspace,
    'errand order journal list -o id | errand order journal resume - --retries 0',
  );
  expect(listed.code).toBe(10);
  expect(listed.stderr.match(/in doubt: the order was sent/g)).toHaveLength(3);
});
