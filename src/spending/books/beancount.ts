import { plainAmount } from '../../output/money.ts';
import type { Entry } from './entry.ts';
import { type BooksFormat, ended, oneLine } from './format.ts';

const title = (wallet: string): string => `; errand books 1: beancount, wallet ${wallet}\n`;

/** A ledger of beancount, each of whose accounts is opened before anything enters it. */
export const beancount: BooksFormat = {
  refuses: (text, { wallet }) => {
    if (text.startsWith(title(wallet))) return undefined;
    return text.startsWith('; errand books 1: beancount,')
      ? 'belongs to another wallet'
      : 'was not written by spend export --as beancount';
  },
  *ids(text) {
    for (const [, id = ''] of text.matchAll(/^[ \t]+errand-id:[ \t]*"([^"\s]+)"[ \t]*$/gm)) yield id;
  },
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
    const lines = new Set(before?.split('\n'));
    const opened = [...accounts]
      .sort()
      .map((account) => `1970-01-01 open ${account}`)
      .filter((line) => !lines.has(line));
    yield before === undefined
      ? `${title(wallet)}; Written by errand spend export; what is written again is not written twice.\n\n`
      : ended(before);
    if (opened.length > 0) yield `${opened.join('\n')}\n\n`;
    yield* texts;
  },
};

const quoted = (text: string, limit?: number): string =>
  `"${oneLine(text, limit).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
