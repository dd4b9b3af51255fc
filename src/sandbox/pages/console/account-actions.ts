import { operations } from '../../../contract/operations/index.ts';
import { type Content, html } from '../../../markup.ts';
import { deleteAccount, noteForwarded } from '../../accounts/changes.ts';
import { accountOf } from '../../accounts/records.ts';
import type { SandboxConfig } from '../../config.ts';
import { Refusal } from '../../http/refusal.ts';
import type { Service } from '../../service.ts';
import type { Store } from '../../store/store.ts';
import { consolePath } from '../paths.ts';
import { walletPath } from './console-paths.ts';
import { formAction, Misfilled, seeOther } from './form-action.ts';
import { curlCall, sameFromTerminal } from './same-from-terminal.ts';
import { triggerCall } from './trigger-call.ts';

/** More than anyone rehearses with. */
const mostAccounts = 25;

/** The managed accounts of a user, with what can happen to each; nothing where there is none. */
export function accountsOfUser({ store, config }: Service, userId: string): Content {
  const accounts = store
    .all('SELECT * FROM accounts WHERE user_id = ? ORDER BY seq DESC LIMIT ?', userId, mostAccounts)
    .map(accountOf);
  if (accounts.length === 0) return null;
  return html`<section id="accounts"><header><h2>Retailer accounts</h2></header>${accounts.map(
    (account) =>
      html`<div class="entry" id="account-${account.shortId}"><p>${account.email} <a class="mono" href="${consolePath}/accounts/${account.id}">${account.shortId}</a> <small>${
        account.retailer ?? 'for every retailer'
      }${account.totpSecret !== null && ', with a two-factor secret'}${account.hasForwarding && ', messages are forwarded'}</small></p>${accountActions(config, account)}</div>`,
  )}</section>`;
}

/** What can happen to a managed account. @param shortId its name on the wire. */
export function accountActions(
  config: SandboxConfig,
  { shortId, hasForwarding }: { readonly shortId: string; readonly hasForwarding: boolean },
): Content {
  const path = operations['account.delete'].path.replace('{short_id}', shortId);
  const button = (event: string, name: string, more: Content = null): Content =>
    html`<form method="post" action="${consolePath}/accounts/${shortId}/${event}" id="account-${shortId}-${event}">${more}<button>${name}<span class="unseen"> for ${shortId}</span></button></form>`;
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
  ({ service: { store }, path: { id } }) => {
    const owner = store.get('SELECT user_id FROM accounts WHERE short_id = ?', id)?.user_id;
    return owner === undefined
      ? { path: '/', text: 'Back to the console' }
      : { path: `${walletPath(String(owner))}#accounts`, text: 'Back to the accounts' };
  },
  async ({ service, path: { id, event } }, form) => {
    const { account, userId } = accountNamed(service.store, id);
    const now = service.clock.now();
    if (event === 'forwarded') await noteForwarded(service.store, account.id, now);
    else if (event === 'delete') {
      if (form.get('sure') !== 'yes')
        throw new Misfilled('Deleting it makes the orders that wait for it fail: tick that this is meant.');
      await deleteAccount(service, account.id, now);
    } else throw new Refusal('not_found', 'No such thing can happen to an account.');
    return seeOther(`${walletPath(userId)}#accounts`);
  },
);

function accountNamed(store: Store, shortId: string) {
  const row = store.get('SELECT * FROM accounts WHERE short_id = ?', shortId);
  if (row) return { account: accountOf(row), userId: String(row.user_id) };
  throw new Refusal('not_found', 'There is no such account any more.');
}
