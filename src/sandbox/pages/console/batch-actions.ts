import { type Mood, spoken } from '../../../contract/order-state.ts';
import { type Content, html } from '../../../markup.ts';
import { listBatches } from '../../bulk/records.ts';
import { retryableCount, retryFailed } from '../../bulk/retry-failed.ts';
import type { Service } from '../../service.ts';
import { age } from '../figures.ts';
import { consolePath } from '../paths.ts';
import { stateBadge } from '../words.ts';
import { walletPath } from './console-paths.ts';
import { formAction, onceField, onceIn, seeOther } from './form-action.ts';
import { sameFromTerminal } from './same-from-terminal.ts';

/** The newest of a user's batches; older ones seldom matter where something is done about them. */
const mostBatches = 8;

/** A live page counts them each second. */
const mostCounted = 200;

const moods: Readonly<Record<string, Mood>> = { completed: 'good', failed: 'bad' };

/** A user's newest batches, with a button that retries what failed; nothing where there is none. @param now ms since the epoch. */
export function batchesOfUser(service: Service, userId: string, now: number): Content {
  const { batches, total } = listBatches(service.store, userId, { limit: mostBatches, offset: 0 });
  if (batches.length === 0) return null;
  return html`<section id="batches"><header><h2>Batches</h2></header>${batches.map(
    ({ id, filename, status, row_count, placed_count, failed_count, created_at }) =>
      html`<div class="entry" id="batch-${id}"><p>${stateBadge({ text: spoken(status), mood: moods[status] ?? 'waiting' })} <a class="mono" href="${consolePath}/batches/${id}">${id.slice(0, 8)}</a> ${filename} <small>${placed_count.toLocaleString('en-US')} of ${row_count.toLocaleString('en-US')} placed${
        failed_count > 0 && `, ${failed_count.toLocaleString('en-US')} failed`
      }, uploaded ${age(Date.parse(created_at), now)}</small></p>${retryForm(service, id)}</div>`,
  )}${total > batches.length && html`<p class="soft">and ${total - batches.length} older</p>`}</section>`;
}

/** A button that places the failed rows of a batch again; nothing where none could be. */
export function retryForm({ store, config }: Service, id: string): Content {
  const count = retryableCount(store, id, mostCounted);
  if (count === 0) return null;
  return html`<form method="post" action="${consolePath}/batches/${id}/retry" id="retry-${id}" class="actions">${onceField()}<button>Retry ${count === mostCounted ? 'the' : count} failed ${count === 1 ? 'row' : 'rows'}<span class="unseen"> of batch ${id.slice(0, 8)}</span></button> <small>became no order, or one that failed; in a new batch, each at most once</small></form>${sameFromTerminal(
    config,
    `same-retry-${id}`,
    [{ what: `retrying batch ${id.slice(0, 8)}`, errand: ['bulk', 'retry', id], curl: null }],
    'On the machine that uploaded it, with the key that did in ERRAND_API_KEY; the service itself has no call for it.',
  )}`;
}

/** Places the failed rows of a batch again, as its button requests. */
export const retryBatch = formAction<'consoleRetryBatch'>(
  ({ service: { store }, path: { id } }) => {
    const owner = store.get('SELECT user_id FROM batches WHERE id = ?', id)?.user_id;
    return owner === undefined
      ? { path: '/', text: 'Back to the console' }
      : { path: `${walletPath(String(owner))}#batches`, text: 'Back to the batches' };
  },
  async ({ service, path: { id } }, form) => {
    const { userId } = await retryFailed(service, id, onceIn(form), service.clock.now());
    return seeOther(`${walletPath(userId)}#batches`);
  },
);
