// Builds the program, unless it is built from just these sources: `npm ci` has done that in a fresh clone.
import { isBuilt } from './built.js';

if (!isBuilt()) {
  process.stderr.write(
    'building errand into dist/: the program, its man pages, the library and its declarations\n',
  );
  await import('./build.js');
}
