import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { countAndRemember } from '../../standing/counting.ts';
import { entriesOf, readEntryFile } from '../../standing/file.ts';
import { RunMemory } from '../../standing/memory.ts';
import { shownEntry } from '../../standing/shown.ts';

const all = 'errand://standing';
const mimeType = 'application/json';

/** The standing orders, for reading. Agents change none: no tool adds, edits or runs them. */
export async function listResources(context: Context): Promise<ListResourcesResult> {
  const entries = await shownEntries(context);
  return {
    resources: [
      {
        uri: all,
        name: 'standing orders',
        description: 'what is bought again and again, with the next dates',
        mimeType,
      },
      ...entries.map(({ name, next_dates: [next] }) => ({
        uri: `${all}/${name}`,
        name: `standing order ${name}`,
        description: next ? `next on ${next.date}` : 'nothing is to come',
        mimeType,
      })),
    ],
  };
}

/** Reads one resource. @throws ProtocolError for an unknown one. */
export async function readResource(context: Context, uri: string): Promise<ReadResourceResult> {
  const entries = await shownEntries(context);
  const found = uri === all ? entries : entries.find(({ name }) => uri === `${all}/${name}`);
  if (!found)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no resource of this address; resources/list has those there are`,
    );
  return { contents: [{ uri, mimeType, text: JSON.stringify(found) }] };
}

/** @throws ProtocolError if the file cannot be used. */
async function shownEntries(context: Context) {
  try {
    const file = readEntryFile(context, undefined);
    const entries = await entriesOf(file);
    const memory = new RunMemory(context);
    return entries.map((entry) =>
      shownEntry(countAndRemember(context, { file, memory, entry }).entry, file.path, context.clock.now()),
    );
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
  }
}
