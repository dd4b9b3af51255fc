// Runs the tests: all, or those of the words before the first option. A word is a room of `src/`, whose tests lie in the folders that
// `test/README.md` lists, or a part of a file's path.
import { readFileSync } from 'node:fs';

const foldersOf = new Map(
  [...readFileSync('test/README.md', 'utf8').matchAll(/^\| `(\w+)` \| (`test\/.+`) \|/gm)].map(
    ([, room, folders]) => [room, folders.match(/[\w/]+\//g)],
  ),
);
const [, , ...words] = process.argv;
const firstOption = words.findIndex((word) => word.startsWith('-'));
const named = firstOption < 0 ? words.length : firstOption;
process.argv.splice(
  2,
  words.length,
  'run',
  ...words.flatMap((word, index) => (index < named && foldersOf.get(word)) || word),
);
await import('../node_modules/vitest/vitest.mjs');
