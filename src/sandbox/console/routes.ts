import type { Method } from '../../api/operation.ts';
import { operations } from '../../api/operations/index.ts';
import { claimPath, consolePath, devicePath, shopPath } from '../config.ts';
import type { Route } from '../server/routes.ts';

interface PageRow {
  readonly path: string;
  readonly GET?: string;
  readonly POST?: string;
  /** The API has the same path, so the page is served only to requests that prefer HTML. */
  readonly shared?: true;
}

/** Route table of the HTML pages. */
export const pageRows = [
  { path: '/', GET: 'console' },
  { path: consolePath, GET: 'console' },
  { path: `${consolePath}/search`, GET: 'consoleSearch' },
  { path: `${consolePath}/orders`, GET: 'consoleOrders' },
  { path: `${consolePath}/orders/{id}`, GET: 'consoleOrder' },
  { path: `${consolePath}/orders/{id}/return`, POST: 'consoleReturn' },
  { path: `${consolePath}/orders/{id}/jump`, POST: 'consoleJump' },
  { path: `${consolePath}/orders/{id}/until-done`, POST: 'consoleUntilDone' },
  { path: `${consolePath}/orders/{id}/{event}`, POST: 'consoleEvent' },
  { path: `${consolePath}/returns/{id}/{event}`, POST: 'consoleReturnEvent' },
  { path: `${consolePath}/batches/{id}/retry`, POST: 'consoleRetryBatch' },
  { path: `${consolePath}/accounts/{id}/{event}`, POST: 'consoleAccountEvent' },
  { path: `${consolePath}/batches`, GET: 'consoleBatches' },
  { path: `${consolePath}/batches/{id}`, GET: 'consoleBatch' },
  { path: `${consolePath}/returns`, GET: 'consoleReturns' },
  { path: `${consolePath}/returns/{id}`, GET: 'consoleReturnPage' },
  { path: `${consolePath}/accounts`, GET: 'consoleAccounts' },
  { path: `${consolePath}/accounts/{id}`, GET: 'consoleAccount' },
  { path: `${consolePath}/payments`, GET: 'consolePayments' },
  { path: `${consolePath}/payments/{reference}`, GET: 'consolePayment' },
  { path: `${consolePath}/deliveries`, GET: 'consoleDeliveries' },
  { path: `${consolePath}/deliveries/replay`, POST: 'consoleReplayAll' },
  { path: `${consolePath}/deliveries/compare`, GET: 'consoleCompareDeliveries' },
  { path: `${consolePath}/deliveries/{id}/replay`, POST: 'consoleReplay' },
  { path: `${consolePath}/deliveries/{id}/edit`, GET: 'consoleReplayEdited', POST: 'consoleReplayEdited' },
  { path: `${consolePath}/deliveries/{id}`, GET: 'consoleDelivery' },
  { path: `${consolePath}/requests`, GET: 'consoleRequests' },
  { path: `${consolePath}/requests/compare`, GET: 'consoleCompareRequests' },
  { path: `${consolePath}/requests/{number}`, GET: 'consoleRequest' },
  { path: `${consolePath}/time`, GET: 'consoleTime' },
  { path: `${consolePath}/time/advance`, POST: 'consoleAdvance' },
  { path: `${consolePath}/time/speed`, POST: 'consoleSpeed' },
  { path: `${consolePath}/time/snapshot`, POST: 'consoleSnapshot' },
  { path: `${consolePath}/time/restore`, POST: 'consoleRestore' },
  { path: `${consolePath}/time/reset`, POST: 'consoleReset' },
  { path: `${consolePath}/faults`, GET: 'consoleFaults' },
  { path: `${consolePath}/faults/on`, POST: 'consoleFaultOn' },
  { path: `${consolePath}/faults/off`, POST: 'consoleFaultOff' },
  { path: `${consolePath}/faults/seed`, POST: 'consoleFaultSeed' },
  { path: `${consolePath}/keys`, GET: 'consoleKeys', POST: 'consoleMint' },
  { path: `${consolePath}/keys/{id}/claim`, POST: 'consoleClaim' },
  { path: `${consolePath}/wallets`, GET: 'consoleWallets' },
  { path: `${consolePath}/wallets/{id}`, GET: 'consoleWallet' },
  { path: `${consolePath}/wallets/{id}/fund`, POST: 'consoleFund' },
  { path: `${consolePath}/wallets/{id}/empty`, POST: 'consoleEmpty' },
  { path: `${consolePath}/shop/{slug}`, POST: 'consolePlace' },
  { path: `${claimPath}/{token}`, GET: 'claim', POST: 'claim' },
  { path: devicePath, GET: 'device', POST: 'device' },
  { path: shopPath, GET: 'shop' },
  { path: `${shopPath}/{slug}`, GET: 'product' },
  { path: operations['order.track'].path, GET: 'tracking', shared: true },
  { path: `${operations['order.track'].path}/proof/{number}`, GET: 'proof' },
] as const satisfies readonly PageRow[];

type Row = (typeof pageRows)[number];
type NameOf<R> = R extends { GET: infer N } | { POST: infer N } ? N : never;
export type PageName = NameOf<Row>;

type Parameters<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Parameters<Rest>
  : never;
type PathFor<R, N> = R extends { path: infer Path } & ({ GET: N } | { POST: N }) ? Path : never;

/** Path parameters of a page. */
export type PagePath<N extends PageName> = Readonly<Record<Parameters<PathFor<Row, N>>, string>>;

const short = (id: unknown): string => (typeof id === 'string' ? id.slice(0, 8) : '');

/** Describes the effect of each console form. Forms whose path already describes the effect are left out. */
const pageDeeds: Partial<
  Readonly<Record<PageName, (path: Readonly<Record<string, string>>, location: string) => string>>
> = {
  consoleEvent: ({ id, event = '' }) => `${event} ${short(id)}`,
  consoleReturn: ({ id }) => `requested a return of ${short(id)}`,
  consoleReturnEvent: ({ id, event = '' }) => `${event} return ${short(id)}`,
  consoleUntilDone: ({ id }) => `advanced until ${short(id)} is done`,
  consoleJump: ({ id }) => `moved the clock to the future of ${short(id)}`,
  consoleReplay: ({ id }) => `replayed delivery ${short(id)}`,
  consoleReplayEdited: ({ id }) => `replayed delivery ${short(id)}, edited`,
  consoleReplayAll: () => 'replayed deliveries',
  consoleMint: () => 'minted a key',
  consoleClaim: () => 'claimed a key',
  consoleFund: ({ id }) => `added money to wallet ${short(id)}`,
  consoleEmpty: ({ id }) => `emptied wallet ${short(id)}`,
  consolePlace: (_, location) => `placed ${short(location.split('/').at(-1))}`,
};

/** The routes of the pages, from which the server finds the page for a request. */
export const pageRoutes: readonly Route<PageName>[] = pageRows.flatMap((row) => {
  const { path } = row;
  const isForReaders = 'shared' in row;
  return [
    ...('GET' in row ? [pageRoute('GET', path, row.GET, isForReaders)] : []),
    ...('POST' in row ? [pageRoute('POST', path, row.POST, isForReaders)] : []),
  ];
});

function pageRoute(method: Method, path: string, name: PageName, isForReaders: boolean): Route<PageName> {
  const order = name === 'consoleEvent' ? 'id' : undefined;
  return { method, path, target: { kind: 'page', name, did: pageDeeds[name], order }, isForReaders };
}
