#!/usr/bin/env node
// Replaces jq where it is not installed: supports `jq .field` and `jq -r .field` over one or more JSON documents, one
// per line or a single multi-line one.
const args = process.argv.slice(2);
const field = (args.at(-1) ?? '.').replace(/^\./, '');
let text = '';
for await (const chunk of process.stdin) text += chunk;
const documents = text.trimStart().startsWith('{\n')
  ? [text]
  : text.split('\n').filter((line) => line.trim() !== '');
for (const document of documents) {
  const value = JSON.parse(document)[field];
  console.log(args.includes('-r') && typeof value === 'string' ? value : JSON.stringify(value));
}
