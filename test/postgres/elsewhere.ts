import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { baseUrl } from '../support/intents.ts';

/**
 * Runs `work` on a shared journal in another process, which exits without closing it. @param folder of its state.
 * @param work with `journal` and `baseUrl` in scope.
 */
export async function workElsewhere(folder: string, url: string, work: string): Promise<string> {
  const module = new URL('../../src/journal/journal.ts', import.meta.url).href;
  const script = `const { Journal } = await import(${JSON.stringify(module)});
    const baseUrl = ${JSON.stringify(baseUrl)};
    const shared = { address: { url: process.env.TEAM_URL, shown: 'team' } };
    const journal = await Journal.open(${JSON.stringify(folder)}, Date.now, { shared });
    ${work}
    process.exit(0);`;
  const node = ['--import', 'tsx', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, node, {
    env: { ...process.env, TEAM_URL: url },
  });
  return stdout;
}
