import { plainAmount } from '../../format/money.ts';
import type { Entry } from './entries.ts';
import { type AccountingFormat, afterDeclarations, continued, oneLine } from './files.ts';
import { type LedgerLines, readLedger } from './ledger.ts';

const title = (wallet: string): string => `; errand books 1: beancount, wallet ${wallet}\n`;

const lines: LedgerLines = {
  begin: /^\d{4}[-/]\d+[-/]\d+[ \t]+(?:[*!"]|txn\b)/,
  id: /^[ \t]+errand-id:[ \t]*"([^"\s]+)"[ \t]*$/,
  aside: /^[ \t]+(?:;|[a-z][\w-]*:)/,
  posting: /^(\S+)(?:[ \t]+(\S.*))?$/,
};

/** A Beancount ledger. Each account is opened before the first entry that uses it. */
export const beancount: AccountingFormat = {
  refuses: (text, { wallet }) => {
    if (text.startsWith(title(wallet))) return undefined;
    return text.startsWith('; errand books 1: beancount,')
      ? 'belongs to another wallet'
      : 'was not written by spend export --as beancount';
  },
  read: (text) => readLedger(text, lines),
  takes: () => true,
  render: ({ id, date, orderId, payee, text, poNumber, metadata, isByRule, postings }: Entry) =>
    [
      `${date} * ${quoted(payee)} ${quoted(text)}`,
      `  errand-id: "${id}"`,
      ...(orderId === undefined ? [] : [`  order: "${orderId}"`]),
      ...(isByRule ? ['  basis: "by rule"'] : []),
      ...(poNumber === undefined ? [] : [`  po: ${quoted(poNumber)}`]),
      ...(metadata === undefined ? [] : [`  metadata: ${quoted(metadata, 400)}`]),
      ...postings.map(
        ({ account, cents, currency }) => `  ${account}  ${plainAmount(cents, currency)} ${currency}`,
      ),
      '\n',
    ].join('\n'),
  *assemble({ wallet }, before, { texts, accounts }) {
    const there = new Set(before?.split(/\r?\n/));
    const opened = [...accounts]
      .sort()
      .map((account) => `1970-01-01 open ${account}`)
      .filter((line) => !there.has(line));
    const added = afterDeclarations(opened, texts);
    if (before !== undefined) return yield* continued(before, added);
    yield `${title(wallet)}; Written by errand spend export; what is written again is not written twice.\n\n`;
    yield* added;
  },
};

const quoted = (text: string, limit?: number): string =>
  `"${oneLine(text, limit).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
