// Which line of the sources a place in the built program is: `node .ci/where.js dist/wallet-1a2b3c4d.cjs:2:4593`.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, relative } from 'node:path';

const [, file, line, column] = /([^/\\]+\.c?js):(\d+):(\d+)/.exec(process.argv[2] ?? '') ?? [];
const map = new SourceMap(JSON.parse(readFileSync(`dist/${file}.map`, 'utf8')));
const { originalSource, originalLine, originalColumn } = map.findEntry(line - 1, column - 1);
console.log(`${relative('.', join('dist', originalSource))}:${originalLine + 1}:${originalColumn + 1}`);
