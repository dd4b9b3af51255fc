import { mkdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCodes } from '../../api/error-codes.ts';
import { listIn, textIn } from '../../api/json.ts';
import type { Received } from '../../api/received.ts';
import { defineCommand } from '../../cli/define.ts';
import { refuseNonFiles, refuseOverwriting } from '../../cli/page-options.ts';
import { saveFile } from '../../format/save-file.ts';
import type { Client } from '../../http/client.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { decoded, parseUrl } from '../../platform/net/urls.ts';
import { invisibleAstral, invisibleBmp } from '../../platform/redact/safe-text.ts';
import { eachId, readIds } from '../../run/ids.ts';

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
    const requested = await readIds(context, 'return id', ids);
    const client = await context.client();
    const read = eachId(context, requested, (id) => readLabelled(client, id));
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

/** @throws ErrandError conflict if the return has no labels. */
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

/** Maximum size of a label, in bytes. */
const largest = 25 * 1024 * 1024;

/** @throws ErrandError if the label is too large or empty. */
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

/** If a signed link has expired, the response is a 403, whatever its body. */
const isRefused = (error: unknown): error is ErrandError =>
  error instanceof ErrandError && error.facts.status === errorCodes.forbidden.status;

/** Replaces the default hint, which would blame the API key although the link is the problem. */
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

interface LabelFile {
  /** The return's id, as given by the caller. */
  readonly returnId: string;
  /** Zero-based position among the labels of its return. */
  readonly index: number;
  readonly url: string;
  /** Destination file. */
  readonly path: string;
}

/** Label links of a return; skips entries that are not strings. */
export const labelUrls = (record: { readonly label_urls?: unknown }): string[] =>
  listIn(record, 'label_urls').filter((url) => typeof url === 'string');

/** Assigns a unique path to each label. File names include the return id, so several returns can share a folder. */
function labelFiles(dir: string, returns: readonly Received<'return.get'>[]): LabelFile[] {
  const taken = new Map<string, number>();
  return returns.flatMap((record) =>
    labelUrls(record).map((url, index) => {
      const { id } = record;
      const name = freeName(`return-${safeFileName(id, 'x').slice(0, 8)}-${nameIn(url)}`, taken);
      // Joins the folder as the caller wrote it, without resolving it.
      return { returnId: id, index, url, path: join(dir, basename(pathInside(dir, name))) };
    }),
  );
}

function nameIn(url: string): string {
  const path = parseUrl(url)?.pathname ?? '';
  const name = safeFileName(decoded(path.split('/').at(-1) ?? ''));
  return labelExtension.test(name) ? name : `${name}.pdf`;
}

/** File extensions that a label may have. With any other extension, the file could open as a program or a page. */
const labelExtension = /\.(?:pdf|png|gif|jpe?g|tiff?|zpl|epl|txt)$/i;

/** Returns a name that is not taken yet. Ignores case, as the file systems of many users do. */
function freeName(name: string, taken: Map<string, number>): string {
  const dot = name.lastIndexOf('.');
  const known = name.toLowerCase();
  let number = taken.get(known) ?? 1;
  let free = name;
  while (taken.has(free.toLowerCase())) {
    number += 1;
    free = `${name.slice(0, dot)}-${number}${name.slice(dot)}`;
  }
  taken.set(known, number);
  taken.set(free.toLowerCase(), 1);
  return free;
}

/** Names that Windows reserves for devices, with any extension. */
const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
const maxNameBytes = 80;
const unfit = /[^\p{L}\p{N}._ -]/gu;
/** Invisible characters. They are replaced separately, because some of them count as letters. */
const invisible = new RegExp(`[${invisibleBmp}${invisibleAstral}]`, 'gu');

/**
 * Turns untrusted text into a file name, or a part of a file name. Keeps the letters, digits and a few punctuation
 * marks of the last path segment. Removes every path, drive, device, control and invisible character. Returns
 * `fallback` if nothing is left. Pure.
 */
export function safeFileName(given: string, fallback = 'label'): string {
  // The name is cut to this length later anyway, so ignore anything beyond it.
  const last = (given.split(/[/\\]/).at(-1) ?? '').slice(-4 * maxNameBytes);
  const plain = trimmed(last.normalize('NFC').replace(invisible, '_').replace(unfit, '_'));
  const name = plain === '' ? fallback : plain;
  return shortened(reserved.test(name) ? `_${name}` : name);
}

/**
 * Joins a folder and a file name. As the last line of defense, refuses a path outside the folder.
 * @throws Error if the path would leave the folder.
 */
export function pathInside(folder: string, name: string): string {
  const path = resolve(folder, name);
  if (dirname(path) !== resolve(folder)) throw new Error(`${JSON.stringify(name)} would leave the folder`);
  return path;
}

/**
 * Strips leading characters that would hide the file or look like a flag. Also strips trailing characters that Windows
 * drops.
 */
const trimmed = (name: string): string => name.replace(/^[. _-]+/, '').replace(/(?<![. ])[. ]+$/, '');

/** Shortens a name to a length that every file system accepts. The extension stays. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= maxNameBytes) return name;
  const extension = /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? '';
  let room = maxNameBytes - extension.length;
  let stem = '';
  for (const character of name.slice(0, name.length - extension.length)) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    stem += character;
  }
  return `${stem}${extension}`;
}
