import { type Content, html } from '../../platform/html.ts';
import { retryableCount, retryFailed } from '../bulk/retry-failed.ts';
import type { Service } from '../server/service.ts';
import { batchesPath } from './batches.ts';
import { formAction, onceField, onceIn, seeOther } from './form-action.ts';
import { sameFromTerminal } from './same-from-terminal.ts';

/** A live page counts them each second. */
const mostCounted = 200;

/** A button that places the failed rows of a batch again; nothing where none could be. */
export function retryForm({ store, config }: Service, id: string): Content {
  const count = retryableCount(store, id, mostCounted);
  if (count === 0) return null;
  return html`<form method="post" action="${batchesPath}/${id}/retry" id="retry-${id}" class="actions">${onceField()}<button>Retry ${count === mostCounted ? 'the' : count} failed ${count === 1 ? 'row' : 'rows'}<span class="unseen"> of batch ${id.slice(0, 8)}</span></button> <small>became no order, or one that failed; in a new batch, each at most once</small></form>${sameFromTerminal(
    config,
    `same-retry-${id}`,
    [{ what: `retrying batch ${id.slice(0, 8)}`, errand: ['bulk', 'retry', id], curl: null }],
    'On the machine that uploaded it, with the key that did in ERRAND_API_KEY; the service itself has no call for it.',
  )}`;
}

/** Places the failed rows of a batch again, as its button requests. */
export const retryBatch = formAction<'consoleRetryBatch'>(
  ({ path: { id } }) => ({ path: `${batchesPath}/${id}`, text: 'Back to the batch' }),
  async ({ service, path: { id } }, form) => {
    const newId = onceIn(form);
    await retryFailed(service, id, newId, service.clock.now());
    return seeOther(`${batchesPath}/${newId}`);
  },
);
