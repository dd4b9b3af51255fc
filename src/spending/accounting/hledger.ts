import { plainAmount } from '../../format/money.ts';
import type { Entry } from './entries.ts';
import { type AccountingFormat, afterDeclarations, continued, oneLine } from './files.ts';
import { type LedgerLines, readLedger } from './ledger.ts';

const title = (wallet: string): string => `; errand books 1: hledger, wallet ${wallet}\n`;

/** Account names may contain single spaces. */
const lines: LedgerLines = {
  begin: /^\d{4}[-/.]\d+[-/.]\d+/,
  id: /^[ \t]+;[ \t]*errand-id:[ \t]*(\S+)[ \t]*$/,
  aside: /^[ \t]+;/,
  posting: /^(\S+(?: \S+)*)(?:(?:[ \t]{2,}|\t)(\S.*))?$/,
};

/** An hledger journal. It declares accounts and currencies, so that `hledger check --strict` passes. */
export const hledger: AccountingFormat = {
  refuses: (text, { wallet }) => {
    if (text.startsWith(title(wallet))) return undefined;
    return text.startsWith('; errand books 1: hledger,')
      ? 'belongs to another wallet'
      : 'was not written by spend export --as hledger';
  },
  read: (text) => readLedger(text, lines),
  takes: () => true,
  render: ({ id, date, orderId, payee, text, poNumber, metadata, isByRule, postings }: Entry) => {
    const comments = [
      `errand-id: ${id}`,
      ...(orderId === undefined ? [] : [`order: ${orderId}`]),
      ...(isByRule ? ['basis: by rule'] : []),
      ...(poNumber === undefined ? [] : [`po: ${oneLine(poNumber)}`]),
      ...(metadata === undefined ? [] : [`metadata: ${oneLine(metadata, 400)}`]),
    ];
    return [
      `${date} * (${id.slice(0, 8)}) ${described(payee)} | ${described(text)}`,
      ...comments.map((line) => `    ; ${line}`),
      ...postings.map(
        ({ account, cents, currency }) => `    ${account}  ${plainAmount(cents, currency)} ${currency}`,
      ),
      '\n',
    ].join('\n');
  },
  *assemble({ wallet }, before, { texts, accounts, currencies }) {
    const there = new Set(before?.split(/\r?\n/));
    const declared = [
      ...[...currencies].map((currency) => `commodity ${sample(currency)} ${currency}`),
      ...[...accounts].sort().map((account) => `account ${account}`),
    ].filter((line) => !there.has(line));
    const added = afterDeclarations(declared, texts);
    if (before !== undefined) return yield* continued(before, added);
    yield `${title(wallet)}; Written by errand spend export; what is written again is not written twice.\n\n`;
    yield* added;
  },
};

/** Replaces semicolons, which would start a comment. Also replaces vertical bars, which would end the payee. */
const described = (text: string): string => oneLine(text).replaceAll(';', ',').replaceAll('|', '/');

/** A sample amount, from which hledger learns how many decimals a currency has. */
const sample = (currency: string): string => {
  const amount = plainAmount(1, currency);
  return amount === '1' ? '1000.' : `1000${amount.slice(1).replace('1', '0')}`;
};
