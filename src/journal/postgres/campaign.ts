import { isObject, type JsonObject, textIn } from '../../api/json.ts';
import type { DatabaseRow } from './connect.ts';

/** Whose campaigns: those of another service or account have names of their own. */
export interface CampaignOwner {
  readonly baseUrl: string;
  readonly account: string;
}

/** A file that several workers upload. */
export interface Campaign extends CampaignOwner {
  readonly id: number;
  readonly name: string;
  /** How the key is shown with which it is uploaded. */
  readonly sentWith: string;
  /** `reading`: one worker reads and checks the file. `refused`: it may not be uploaded as it is. */
  readonly state: 'reading' | 'open' | 'refused' | 'done';
  /** What the file was read with. */
  readonly terms: JsonObject;
  /** What reading it came to, or why it was refused. */
  readonly facts: JsonObject;
  /** Where it is read at this moment; undefined where nobody reads it. */
  readonly readerHost: string | undefined;
  readonly isReader: boolean;
}

/** `check`: the service looks at the rows. `place`: they are ordered. */
export type ChunkKind = 'check' | 'place';

/** A part of the work. */
export interface Chunk {
  readonly kind: ChunkKind;
  readonly place: number;
  readonly body: JsonObject;
}

export interface DoneChunk extends Omit<Chunk, 'kind'> {
  readonly result: JsonObject;
}

/** How far a campaign is. */
export interface CampaignStanding {
  readonly state: Campaign['state'];
  /** Rows to be ordered, and those that are in a batch of the service. */
  readonly rows: number;
  readonly sent: number;
  /** Chunks of orders that are not done. */
  readonly open: number;
  /** That are at work now, this one among them. */
  readonly workers: number;
}

/** A JSON object of the database; an empty one for anything else. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

const states: readonly Campaign['state'][] = ['reading', 'open', 'refused', 'done'];
export const stateOf = (value: unknown): Campaign['state'] =>
  states.find((state) => state === value) ?? 'refused';

/** A campaign as it was read. */
export const campaignOf = (row: DatabaseRow): Campaign => ({
  id: Number(row.id),
  baseUrl: String(row.base_url),
  account: String(row.account),
  name: String(row.name),
  sentWith: String(row.sent_with),
  state: stateOf(row.state),
  terms: objectOf(row.terms),
  facts: objectOf(row.facts),
  readerHost: textIn(row, 'reader_host'),
  isReader: row.is_reader === true,
});
