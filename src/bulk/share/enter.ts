import { textIn } from '../../api/json.ts';
import type { Campaign, CampaignOwner } from '../../journal/postgres/campaign.ts';
import type { ShareQueue } from '../../journal/postgres/queue.ts';
import { ErrandError, type ErrorCategory, exitCodes, UsageError } from '../../platform/errors.ts';
import { nameOfFile } from '../upload-name.ts';
import { checkNotElsewhere, checkTerms, keptTerms, type Said, termsOf } from './terms.ts';

/** Who comes to a shared upload, and with what. */
export interface Coming {
  readonly owner: CampaignOwner;
  readonly keyMasked: string;
  /** Undefined for the name of the file. */
  readonly name: string | undefined;
  /** Undefined where this worker has none, and takes the rows from the database. */
  readonly file: { readonly name: string; readonly sha256: string } | undefined;
  readonly said: Said;
}

/**
 * The campaign of a name, as it is now: this worker is to read its file, or another one does or has.
 * @throws ErrandError for one that differs from what this worker was given.
 */
export async function enter(
  queue: ShareQueue,
  { owner, keyMasked, name, file, said }: Coming,
): Promise<Campaign> {
  const wanted = name ?? nameOfFile(file?.name ?? '');
  const begin = file && { sentWith: keyMasked, terms: keptTerms(termsOf(said, file)) };
  for (let count = 1; ; count += 1) {
    const called = count === 1 ? wanted : `${wanted}-${count}`;
    const { own, elsewhere } = await queue.enter(owner, called, begin);
    checkNotElsewhere(elsewhere, { keyMasked, baseUrl: owner.baseUrl });
    if (!own) throw nobodyShares(called);
    if (own.isReader) return own;
    // Last month's file had the same name.
    const isPast = own.state === 'done' && name === undefined && file?.sha256 !== textIn(own.terms, 'sha256');
    if (isPast) continue;
    checkTerms(own, said, file);
    return own;
  }
}

/** Why a campaign is not uploaded: the worker that has read its file was refused. */
export function refusalOf({ name, facts }: Campaign): ErrandError {
  const category = textIn(facts, 'category') ?? '';
  const message = textIn(facts, 'message') ?? 'it was refused';
  return new ErrandError(isCategory(category) ? category : 'ended_badly', `${name}: ${message}`, {
    outcome: 'not_sent',
    hint: `The worker on ${textIn(facts, 'host') ?? 'another machine'} has read its file, and shows more.`,
  });
}

const isCategory = (text: string): text is ErrorCategory => Object.hasOwn(exitCodes, text);

const nobodyShares = (name: string): UsageError =>
  new UsageError(`no worker has begun to share an upload called ${name}`, {
    hint: 'The first worker needs the file: `errand bulk upload FILE --share`. `errand bulk uploads` lists the names.',
  });

/** Where nobody reads the file any more, and this worker does not have it. */
export const nobodyReads = ({ name }: Campaign): ErrandError =>
  new ErrandError(
    'unavailable',
    `the worker that read the file of ${name} has gone, and this one has no file`,
    {
      outcome: 'not_sent',
      hint: 'Start a worker that has the file: `errand bulk upload FILE --share`.',
    },
  );
