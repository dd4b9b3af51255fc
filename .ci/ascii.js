import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';

const beyond = /[^\x00-\x7f]/g;
const escapeOf = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** What an escape is longer than the character that it stands for. */
const longer = escapeOf('…').length - 1;

/**
 * Writes every character beyond ASCII in the scripts of a folder as an escape. One `…` in a file makes V8 keep all of it in two
 * bytes a character, which is twice as much to make, to collect and to read at each start.
 */
export function writeInAscii(folder) {
  for (const name of readdirSync(folder).filter((one) => /\.c?js$/.test(one))) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    // What stands in such a template is taken as it is written, escapes and all.
    if (/String\.raw`[^`]*[^\x00-\x7f]/.test(text))
      throw new Error(`${file} has a raw template beyond ASCII`);
    const ascii = text.replace(beyond, escapeOf);
    if (ascii === text) continue;
    writeFileSync(file, ascii);
    const map = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
    writeFileSync(`${file}.map`, JSON.stringify({ ...map, mappings: moved(map.mappings, text) }));
  }
}

/** The places of a source map, each behind the escapes that now stand before it in its line. */
function moved(mappings, text) {
  const lines = text.split('\n');
  return encode(
    decode(mappings).map((segments, index) => {
      const found = [...(lines[index] ?? '').matchAll(beyond)].map(({ index: at }) => at);
      let before = 0;
      return segments.map(([column, ...rest]) => {
        while (before < found.length && found[before] < column) before += 1;
        return [column + before * longer, ...rest];
      });
    }),
  );
}
