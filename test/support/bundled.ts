import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** Inside the checkout, so that the packaged SQLite resolves. */
const folder = fileURLToPath(new URL('../../.test-tmp/', import.meta.url));
const made = new Map<string, Promise<string>>();

/**
 * Puts a source and all that it imports into one file, for processes of a test: Node loads it for a sixth of the processor time that
 * it takes through tsx. Made once for each worker. @returns the file.
 */
export function bundled(source: URL): Promise<string> {
  const file = join(folder, `${basename(source.pathname, '.ts')}-${process.pid}.mjs`);
  const known = made.get(file) ?? bundle(fileURLToPath(source), file);
  made.set(file, known);
  return known;
}

async function bundle(input: string, file: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  removeOld();
  const one = await rolldown({ input, platform: 'node', external: [/^@photostructure/] });
  await one.write({ file: `${file}.part`, format: 'esm', codeSplitting: false });
  await one.close();
  renameSync(`${file}.part`, file);
  return file;
}

/** A worker may end without a word: the next one removes what it has left. */
function removeOld(): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = /-(\d{1,10})\.mjs$/.exec(name) ?? [];
    if (pid !== undefined && !lives(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The same as what a script imports. */
export const bundledModule = async (source: URL): Promise<string> =>
  JSON.stringify(pathToFileURL(await bundled(source)).href);
