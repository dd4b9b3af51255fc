import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { baseUrl, journalModule } from '../support/intents.ts';

/**
 * Runs `work` on a shared journal in another process, which exits without closing it. @param folder of its state.
 * @param work with `journal` and `baseUrl` in scope.
 */
export async function workElsewhere(folder: string, url: string, work: string): Promise<string> {
  const script = `const { Journal } = await import(${journalModule});
    const baseUrl = ${JSON.stringify(baseUrl)};
    const shared = { address: { url: process.env.TEAM_URL, shown: 'team' } };
    const journal = await Journal.open(${JSON.stringify(folder)}, Date.now, { shared });
    ${work}
    process.exit(0);`;
  const node = ['--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, node, {
    env: { ...process.env, TEAM_URL: url },
  });
  return stdout;
}
