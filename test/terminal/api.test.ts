import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { peer, text } from '../support/peer.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

describe('errand api in a real terminal', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_0123456789abcdef0123' });
  });
  afterEach(() => workspace.remove());

  test('a response that is no text is refused, and does not reach the terminal', async () => {
    const pdf = Buffer.from('%PDF-1.7\u0000\u0001\u0002secret-bytes');
    const { url } = await peer(text(pdf, 200, { 'content-type': 'application/pdf' }));
    const terminal = new Terminal(workspace, 'errand', ['api', '/label', '--base-url', url]);
    expect(await terminal.ended()).toBe(2);
    expect(terminal.text).toContain('application/pdf');
    expect(terminal.text).toContain('> FILE');
    expect(terminal.text).not.toContain('secret-bytes');
    terminal.close();
  });

  test('control characters of a text are made visible', async () => {
    const { url } = await peer(text('a\u001b]0;title\u0007b', 200, { 'content-type': 'text/plain' }));
    const terminal = new Terminal(workspace, 'errand', ['api', '/page', '--base-url', url]);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toContain('a␛]0;title␇b');
    terminal.close();
  });
});
