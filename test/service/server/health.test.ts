import { expect, test } from 'vitest';
import { readFault } from '../../../src/sandbox/serve.ts';
import { TestService } from '../../support/service.ts';

test('it says when it is ready, whatever faults it has, to whoever asks; and no log has it', async () => {
  const fault = readFault('503');
  if (!fault) throw new Error('503 is a fault');
  const service = await TestService.start({ faults: [fault] });
  try {
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(`${service.baseUrl}/healthz`, { method });
      expect(response.status).toBe(200);
      if (method === 'GET') expect(await response.json()).toEqual({ status: 'ok' });
    }
    expect((await fetch(`${service.baseUrl}/retailers`)).status).toBe(503);
    expect((await fetch(`${service.baseUrl}/healthz`, { method: 'POST' })).status).toBe(405);
    const log = await fetch(`${service.baseUrl}/console/requests`, { headers: { accept: 'text/html' } });
    const text = await log.text();
    expect(text).toContain('/retailers');
    expect(text).not.toContain('healthz');
  } finally {
    await service.stop();
  }
});
