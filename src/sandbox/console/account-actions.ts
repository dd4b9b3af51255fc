import { operations } from '../../api/operations/index.ts';
import { type Content, html } from '../../platform/html.ts';
import { deleteAccount, noteForwarded } from '../accounts/changes.ts';
import { type Account, accountOf } from '../accounts/records.ts';
import type { SandboxConfig } from '../config.ts';
import { Refusal } from '../server/refusal.ts';
import type { Store } from '../store/store.ts';
import { accountsPath } from './accounts.ts';
import { formAction, Misfilled, seeOther } from './form-action.ts';
import { curlCall, sameFromTerminal } from './same-from-terminal.ts';
import { triggerCall } from './trigger-call.ts';

/** What can happen to a managed account. @param shortId its name on the wire. */
export function accountActions(
  config: SandboxConfig,
  { shortId, hasForwarding }: { readonly shortId: string; readonly hasForwarding: boolean },
): Content {
  const path = operations['account.delete'].path.replace('{short_id}', shortId);
  const button = (event: string, name: string, more: Content = null): Content =>
    html`<form method="post" action="${accountsPath}/${shortId}/${event}" id="account-${shortId}-${event}">${more}<button>${name}<span class="unseen"> for ${shortId}</span></button></form>`;
  return html`<div class="actions">${!hasForwarding && button('forwarded', 'Forwarded message arrives')}${button(
    'delete',
    'Delete',
    html`<label class="check"><input type="checkbox" name="sure" value="yes" required> Orders that wait for it fail</label>`,
  )}</div>${sameFromTerminal(config, `same-account-${shortId}`, [
    ...(hasForwarding ? [] : [triggerCall(config, { event: 'account-forwarded', id: shortId })]),
    {
      what: 'deleting the account',
      errand: ['account', 'remove', shortId],
      curl: curlCall(config, { method: 'DELETE', path }),
    },
  ])}`;
}

/** Makes something happen to a managed account, as its button requests. */
export const accountEvent = formAction<'consoleAccountEvent'>(
  ({ service: { store }, path: { id } }) =>
    findNamed(store, id)
      ? { path: `${accountsPath}/${id}`, text: 'Back to the account' }
      : { path: accountsPath, text: 'All accounts' },
  async ({ service, path: { id, event } }, form) => {
    const account = findNamed(service.store, id);
    if (!account) throw new Refusal('not_found', 'There is no such account any more.');
    const now = service.clock.now();
    if (event === 'forwarded') await noteForwarded(service.store, account.id, now);
    else if (event === 'delete') {
      if (form.get('sure') !== 'yes')
        throw new Misfilled('Deleting it makes the orders that wait for it fail: tick that this is meant.');
      await deleteAccount(service, account.id, now);
    } else throw new Refusal('not_found', 'No such thing can happen to an account.');
    return seeOther(event === 'delete' ? accountsPath : `${accountsPath}/${id}`);
  },
);

function findNamed(store: Store, shortId: string): Account | undefined {
  const row = store.get('SELECT * FROM accounts WHERE short_id = ?', shortId);
  return row && accountOf(row);
}
