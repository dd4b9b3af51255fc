import { type ChildProcess, execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { begin, embeddedShop, errand, shell } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const nobody = 65_534;

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs Node as another user of the machine, who has nothing of ours in the environment. */
const asAnother = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { uid: nobody, gid: nobody, cwd: '/', env };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ code: Number(error ? (error.code ?? -1) : 0), output: `${stdout}${stderr}` });
    });
  });

/** All files and folders below a folder. */
const below = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );

/** What the files below a folder hold, without those that a reader may touch. */
const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    below(folder)
      .filter((path) => statSync(path).isFile() && !/-(?:shm|wal)$/.test(path))
      .map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );

describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'another user of the machine',
  () => {
    let workspace: Workspace;
    /** A copy of the program that everybody may read. */
    let program: string;
    let secrets: readonly string[];

    beforeAll(async () => {
      workspace = makeWorkspace();
      const url = `${await embeddedShop()}test-success`;
      const { code, stderr } = await shell(
        workspace,
        `errand order create --product ${url} --max-price '$50' --ship-to home -o id &&
       echo hunter2222 > password && errand account add --email a@b.example --password-file password -o id`,
      );
      expect(code, stderr).toBe(0);
      // Only errand's own folders protect what is in them.
      chmodSync(workspace.folder, 0o755);
      program = mkdtempSync(join(tmpdir(), 'errand-program-'));
      for (const name of ['bin', 'dist', 'package.json'])
        cpSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), join(program, name), {
          recursive: true,
        });
      chmodSync(program, 0o755);
      const { profiles } = JSON.parse(readFileSync(join(workspace.folder, '.config/config.json'), 'utf8'));
      secrets = [String(profiles.local.api_key), 'hunter2222', 'Main St', 'a@b.example'];
      expect(secrets[0]).toMatch(/_test_/);
    });
    afterAll(() => {
      workspace.remove();
      rmSync(program, { recursive: true, force: true });
    });

    const own = () => ['.config', '.state'].map((name) => join(workspace.folder, name));

    test('opens, lists, changes and replaces nothing that errand keeps', async () => {
      const paths = own().flatMap((folder) => [folder, ...below(folder)]);
      expect(paths.length).toBeGreaterThan(6);
      const before = own().map(contents);
      const script = `const fs = require('node:fs');
      const tries = { open: (path) => fs.openSync(path, 'r'), list: (path) => fs.readdirSync(path), write: (path) => fs.openSync(path, 'r+'),
        add: (path) => fs.writeFileSync(path + '.new', ''), remove: (path) => fs.rmSync(path, { recursive: true }),
        rename: (path) => fs.renameSync(path, path + '.old'), link: (path) => fs.linkSync(path, '/tmp/' + process.pid) };
      for (const path of ${JSON.stringify(paths)}) for (const [name, act] of Object.entries(tries))
        try { act(path); console.log(name, path); } catch {}`;
      expect(await asAnother(['-e', script])).toEqual({ code: 0, output: '' });
      expect(own().map(contents)).toEqual(before);
    });

    test('has errand itself refuse to use what is not theirs, and learns nothing by it', async () => {
      const home = mkdtempSync(join(tmpdir(), 'errand-nobody-'));
      onTestFinished(() => rmSync(home, { recursive: true, force: true }));
      chmodSync(home, 0o777);
      const before = own().map(contents);
      const [config = '', state = ''] = own();
      for (const env of [
        { HOME: home, ERRAND_CONFIG_DIR: config, ERRAND_STATE_DIR: state },
        { HOME: home, ERRAND_STATE_DIR: state },
        { HOME: home, ERRAND_CONFIG_DIR: config },
      ])
        for (const line of [
          ['order', 'list'],
          ['order', 'journal', 'list', '--all'],
          ['order', 'journal', 'resume', '--all'],
          ['auth', 'list'],
          ['audit', 'log'],
          ['sandbox', 'reset', '--yes'],
          ['config', 'set', 'timeout', '5s'],
        ]) {
          const { output } = await asAnother([join(program, 'bin/errand.js'), ...line], env);
          for (const secret of secrets) expect(`${line.join(' ')}: ${output}`).not.toContain(secret);
        }
      const refused = await asAnother([join(program, 'bin/errand.js'), 'order', 'journal', 'list'], {
        HOME: home,
        ERRAND_STATE_DIR: state,
      });
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('it cannot be opened')]);
      expect(own().map(contents)).toEqual(before);
    });

    test('neither ends what runs, nor reads its environment, nor finds a key in its arguments', async () => {
      const served = await serveAt(workspace);
      const listener = begin(workspace, 'errand', ['webhook', 'listen']);
      const agent = begin(workspace, 'errand', ['mcp']);
      const children: readonly ChildProcess[] = [listener, agent];
      onTestFinished(() => {
        for (const child of children) child.kill('SIGKILL');
      });
      let told = '';
      listener.stderr.on('data', (text) => {
        told += text;
      });
      listener.stdout.on('data', (text) => {
        told += text;
      });
      await expect.poll(() => told).toContain('listening on');
      const address = /listening on (\S+)/.exec(told)?.[1] ?? expect.fail('it names no address');
      const { origin, pathname } = new URL(address);
      const pids = [listener.pid, agent.pid];
      const script = `const fs = require('node:fs');
      const all = fs.readdirSync('/proc').filter((name) => Number(name) > 0 && Number(name) !== process.pid);
      const read = (path) => { try { return fs.readFileSync(path, 'latin1'); } catch { return ''; } };
      const lines = all.map((pid) => read('/proc/' + pid + '/cmdline')).join('\\n');
      for (const secret of ${JSON.stringify([...secrets, pathname])}) if (lines.includes(secret)) console.log('in the arguments', secret);
      for (const pid of ${JSON.stringify(pids)}) {
        try { process.kill(pid, 'SIGTERM'); console.log('ended', pid); } catch (error) { if (error.code !== 'EPERM') console.log(error.code); }
        if (read('/proc/' + pid + '/environ') !== '') console.log('has the environment of', pid);
      }
      (async () => {
        for (const path of ['/', '/events', '/x'])
          console.log((await fetch('${origin}' + path, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })).status);
        console.log((await fetch('${served.url}/sandbox/control/export', { method: 'POST' })).status);
      })();`;
      const { code, output } = await asAnother(['-e', script]);
      expect([code, output.trim().split('\n')]).toEqual([0, ['404', '404', '404', '403']]);
      expect((await errand(workspace, ['order', 'list'])).code).toBe(0);
      for (const { exitCode } of children) expect(exitCode).toBeNull();
    });
  },
);
