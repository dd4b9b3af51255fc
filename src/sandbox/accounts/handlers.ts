import type { Shape } from '../../api/schemas/index.ts';
import { retailerNamed } from '../catalogue/retailers.ts';
import type { AllHandlers, Call } from '../server/handler.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { deleteAccount } from './changes.ts';
import { accountOf, findAccount, shownAccount } from './records.ts';

export const accountHandlers = {
  'account.list': ({ store }, { caller, query, now }) => {
    const search = (query.search ?? '').toLowerCase();
    const matching = `user_id = ? AND (? = '' OR instr(lower(email), ?) > 0 OR instr(coalesce(retailer, ''), ?) > 0 OR instr(lower(short_id), ?) > 0)`;
    const values = [caller.userId, search, search, search, search];
    const rows = store.all(
      `SELECT * FROM accounts WHERE ${matching} ORDER BY seq DESC LIMIT ? OFFSET ?`,
      ...values,
      query.limit,
      query.offset,
    );
    const total = Number(
      store.get(`SELECT count(*) AS total FROM accounts WHERE ${matching}`, ...values)?.total,
    );
    const credentials = rows.map((row) => shownAccount(store, accountOf(row), now));
    return { value: { credentials, total }, count: credentials.length };
  },

  'account.create': async (service, { caller, body, now }) => {
    const retailer = retailerId(body.retailer);
    const { store, idGenerator, config } = service;
    const sealer = await service.sealer();
    return store.transaction(() => {
      refuseSameLogin(service, caller.userId, body.email, retailer);
      const id = idGenerator.uuid('account');
      const shortId = `${config.prefix}_acct_${idGenerator.token('account', 12)}`;
      const forwarding = `fwd-${idGenerator.token('forwarding', 12).toLowerCase()}@${config.forwardingDomain}`;
      store.run(
        `INSERT INTO accounts (id, short_id, user_id, email, retailer, password, totp_secret, retailer_config,
           forwarding_email, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        id,
        shortId,
        caller.userId,
        body.email,
        retailer,
        body.password ? sealer.seal(body.password, id) : null,
        body.totp_secret ? sealer.seal(body.totp_secret, id) : null,
        configText(body.retailer_config),
        forwarding,
        now,
        now,
      );
      return { value: shown(service, { caller, path: { short_id: shortId }, now }) };
    });
  },

  'account.update': async (service, call) => {
    const { store } = service;
    const { body, caller, now } = call;
    const sealer = await service.sealer();
    return store.transaction(() => {
      const account = ownAccount(service, call);
      const sealed = (secret: string): string | null =>
        secret === '' ? null : sealer.seal(secret, account.id);
      // Change only the given fields.
      const changes: Record<string, string | null> = {
        ...(body.email != null && { email: body.email }),
        ...(body.retailer != null && { retailer: retailerId(body.retailer) }),
        ...(body.password != null && { password: sealed(body.password) }),
        ...(body.totp_secret != null && { totp_secret: sealed(body.totp_secret) }),
        ...(body.retailer_config != null && { retailer_config: configText(body.retailer_config) }),
      };
      const login = { email: account.email, retailer: account.retailer, ...changes };
      refuseSameLogin(service, caller.userId, login.email, login.retailer, account.id);
      const columns = Object.keys(changes).map((column) => `${column} = ?, `);
      store.run(
        `UPDATE accounts SET ${columns.join('')}updated_at = ? WHERE id = ?`,
        ...Object.values(changes),
        now,
        account.id,
      );
      return { value: shown(service, call) };
    });
  },

  'account.delete': async (service, call) => {
    const { id } = ownAccount(service, call);
    await deleteAccount(service, id, call.now);
    return { empty: true };
  },
} satisfies Partial<AllHandlers>;

type AccountCall = Pick<Call<'account.delete'>, 'caller' | 'path' | 'now'>;

function ownAccount({ store }: Service, { caller, path }: AccountCall) {
  const shortId = path.short_id;
  const account = findAccount(store, caller.userId, shortId);
  if (account) return account;
  throw new ErrorResponse('not_found', `There is no managed account ${shortId}.`, {
    resource: 'managed_account',
  });
}

const shown = (service: Service, call: AccountCall): Shape<'ManagedAccount'> =>
  shownAccount(service.store, ownAccount(service, call), call.now);

/** The retailer's identifier if known, else the name as written; null for default credentials. */
function retailerId(name: string | null | undefined): string | null {
  const written = name?.trim() ?? '';
  return written === '' ? null : (retailerNamed(written)?.retailer ?? written);
}

const configText = (config: Readonly<Record<string, unknown>> | null | undefined): string | null =>
  config == null || Object.keys(config).length === 0 ? null : JSON.stringify(config);

function refuseSameLogin(
  { store }: Service,
  userId: string,
  email: string,
  retailer: string | null,
  except = '',
): void {
  const row = store.get(
    `SELECT short_id FROM accounts WHERE user_id = ? AND lower(email) = lower(?) AND coalesce(retailer, '') = ? AND id <> ?`,
    userId,
    email,
    retailer ?? '',
    except,
  );
  if (!row) return;
  throw new ErrorResponse(
    'already_exists',
    'An account with this email is stored for this retailer already.',
    {
      resource: 'managed_account',
      identifier: String(row.short_id),
    },
  );
}
