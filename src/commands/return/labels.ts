import { mkdirSync } from 'node:fs';
import { errorCodes } from '../../api/error-codes.ts';
import { textIn } from '../../api/json.ts';
import type { Received } from '../../api/received.ts';
import { defineCommand } from '../../cli/define.ts';
import { refuseNonFiles, refuseOverwriting } from '../../cli/output/overwriting.ts';
import { saveFile } from '../../format/save-file.ts';
import type { Client } from '../../http/client.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { eachId, readIds } from '../../run/ids.ts';
import { type LabelFile, labelFiles, labelUrls } from './label-files.ts';

type Return = Received<'return.get'>;

export const labels = defineCommand({
  name: 'labels',
  summary: 'Download every label of returns',
  description:
    'Expired links are refreshed and tried once more. Anyone who has a link can use it, so no message shows one.',
  arguments: [
    {
      name: 'ids',
      names: 'returns',
      description: 'ids of returns; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  options: {
    dir: {
      kind: 'text',
      placeholder: 'folder',
      completes: 'files',
      description: 'where to (default the current folder)',
    },
    force: { kind: 'flag', description: 'write over plain files that are there' },
  },
  examples: [
    { command: 'errand return labels $RETURN', note: 'into the current folder' },
    { command: 'errand return labels $RETURN --dir labels -o id', note: 'prints where each one is' },
  ],
  output: { list: 'SavedLabel' },
  operations: ['return.get'],
  exitCodes: { 2: 'a file is there already, and --force is missing', 5: 'a return has no labels' },
  readsOnly: false,
  related: ['return get', 'return list'],
  async run(context, { ids, dir = '.', force = false }) {
    const wanted = await readIds(context, 'return id', ids);
    const client = await context.client();
    const read = eachId(context, wanted, (id) => readLabelled(client, id));
    const returns: Return[] = [];
    for await (const found of read.rows) returns.push(found);
    const files = labelFiles(dir, returns);
    if (files.length > 0) makeFolder(dir);
    const paths = files.map(({ path }) => path);
    refuseNonFiles(paths);
    if (!force) refuseOverwriting(paths);
    const byPath = new Map(files.map((file) => [file.path, file]));
    const saved = eachId(context, [...byPath.keys()], async (path) => {
      const file = byPath.get(path);
      if (!file) throw new Error(`no label goes to ${path}`);
      const bytes = await download(client, file, force);
      return { file: path, return_request_id: file.returnId, bytes };
    });
    return {
      kind: 'list',
      rows: saved.rows,
      columns: [
        { name: 'file', path: 'file', weight: 3 },
        { name: 'return', path: 'return_request_id', kind: 'id', weight: 2 },
        { name: 'bytes', path: 'bytes', kind: 'count', weight: 1 },
      ],
      id: 'file',
      empty: 'no label was downloaded',
      exitCode: () => read.exitCode() || saved.exitCode(),
    };
  },
});

/** @throws ErrandError conflict for a return without labels. */
async function readLabelled(client: Client, id: string): Promise<Return> {
  const { body } = await client.call('return.get', { path: { return_request_id: id } });
  if (labelUrls(body).length > 0) return body;
  throw new ErrandError('conflict', `return ${id} is ${body.status} and has no labels`, {
    outcome: 'not_sent',
    hint: textIn(body, 'resolution_notes') ?? missingHint(body.status),
  });
}

function missingHint(status: unknown): string {
  if (status === 'open' || status === 'in_progress') return 'Labels come once it is approved.';
  if (status === 'approved') return 'The service has given no labels yet; try again later.';
  return 'This return is over: it needs no labels.';
}

/** Downloads one label. @returns its size in bytes. */
async function download(client: Client, file: LabelFile, force: boolean): Promise<number> {
  const chunks = await open(client, file.url).catch(async (error: unknown) => {
    if (!isRefused(error)) throw error;
    const urls = labelUrls(await readLabelled(client, file.returnId));
    return open(client, urls[file.index] ?? file.url).catch(refusedAgain);
  });
  return saveFile(file.path, checked(chunks), { force, isTyped: false });
}

/** Largest label, bytes. */
const largest = 25 * 1024 * 1024;

/** @throws ErrandError for what is too large, or empty. */
async function* checked(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > largest)
      throw new ErrandError('unavailable', `a label is larger than ${largest} bytes; it was not kept`);
    yield chunk;
  }
  if (size === 0) throw new ErrandError('unavailable', 'the service gave an empty label; it was not kept');
}

async function open(client: Client, url: string): Promise<AsyncIterable<Uint8Array>> {
  const { chunks, headers } = await client.download(url);
  const type = String(headers['content-type'] ?? '');
  if (/^\s*text\/html\b/i.test(type))
    throw new ErrandError('unavailable', 'a label link led to a web page, not to a label; it was not kept');
  return chunks;
}

/** A signed link that is no longer good is forbidden, whatever body says so. */
const isRefused = (error: unknown): error is ErrandError =>
  error instanceof ErrandError && error.facts.status === errorCodes.forbidden.status;

/** The key is not to blame for a link that is no good: that would be the wrong hint. */
function refusedAgain(error: unknown): never {
  if (!isRefused(error)) throw error;
  const message = 'the link of a label is refused, though it has just been made anew';
  throw new ErrandError('unavailable', message, { ...error.facts, hint: 'Try again later.', cause: error });
}

function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    throw new UsageError(`--dir: the folder ${dir} cannot be made (${String(code)})`, { cause });
  }
}
