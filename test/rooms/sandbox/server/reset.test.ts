import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { reset } from '../../../../src/sandbox/server/fault-injection.ts';
import { hangsAfterMs } from '../../../support/limits.ts';

test('a connection is reset', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  const seen = once(other, 'error');
  reset(socket);
  other.resume();
  expect((await seen)[0]).toMatchObject({ code: 'ECONNRESET' });
  server.close();
});

test('a process that resets a connection while it ends can end itself', () => {
  const program = `
    import { connect, createServer } from 'node:net';
    import { reset } from '${new URL('../../../../src/sandbox/server/fault-injection.ts', import.meta.url).href}';
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      socket.end();
      reset(socket);
      other.destroy();
      server.close();
    });
    let other;
    server.listen(0, '127.0.0.1', () => { other = connect(server.address().port, '127.0.0.1'); other.on('error', () => {}); });
  `;
  const ended = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: hangsAfterMs,
  });
  expect(ended).toMatchObject({ status: 0, stderr: '' });
});
