// Whether the built program comes from the sources that are there now. Times of files say nothing of that: what they hold does.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const record = join('dist', '.built');
/** What the build reads; the lock file stands for all libraries. */
const inputs = ['src', '.ci', 'package.json', 'package-lock.json'];
const outputs = ['dist'];

const filesIn = (root, path) =>
  statSync(join(root, path)).isFile()
    ? [path]
    : readdirSync(join(root, path), { recursive: true })
        .map((name) => join(path, name))
        .filter((file) => statSync(join(root, file)).isFile());

function hashOf(root, paths) {
  const hash = createHash('sha256');
  const files = paths.filter((path) => existsSync(join(root, path))).flatMap((path) => filesIn(root, path));
  for (const file of files.filter((file) => file !== record).toSorted()) {
    const content = readFileSync(join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** What the build is about to read. */
export const sourcesHash = (root = '.') => hashOf(root, inputs);

/** Notes what was built, and from which sources. */
export const noteBuilt = (sources, root = '.') =>
  writeFileSync(join(root, record), `${sources} ${hashOf(root, outputs)}`);

/** Whether nothing has changed since, in the sources and in what was built of them. */
export const isBuilt = (root = '.') =>
  existsSync(join(root, record)) &&
  readFileSync(join(root, record), 'utf8') === `${sourcesHash(root)} ${hashOf(root, outputs)}`;
