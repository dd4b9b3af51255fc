import { plainAmount, readPlainAmount } from '../../format/money.ts';
import { centsOn, type Entry, type ExistingEntry, walletAccount } from './entries.ts';
import {
  type AccountingContent,
  type AccountingFormat,
  type AccountingSubject,
  type Broken,
  incomplete,
  inLinesOf,
  oneLine,
  readable,
} from './files.ts';

const accountId = (wallet: string): string => wallet.replaceAll('-', '').slice(0, 22);
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<?OFX OFXHEADER="200"';
const list = /<STMTTRN>(?:(?!<STMTTRN>)[\s\S]){0,5000}?<\/STMTTRN>\n?/g;

/** An OFX 2.1.1 statement of the wallet. Payments that were not made from the wallet are left out. */
export const ofx: AccountingFormat = {
  refuses: (text, { wallet }) => {
    if (!text.startsWith(declaration) || !text.includes('<ORG>errand</ORG>'))
      return 'was not written by spend export --as ofx';
    return text.includes(`<ACCTID>${accountId(wallet)}</ACCTID>`) ? undefined : 'belongs to another wallet';
  },
  read: readStatement,
  takes: (entry) => amountOf(entry) !== 0,
  render: (entry) => {
    const { id, kind, at, payee, text, poNumber, isByRule } = entry;
    const amount = amountOf(entry);
    const type = kind === 'fee' && amount < 0 ? 'FEE' : amount < 0 ? 'DEBIT' : 'CREDIT';
    const memo = [text, poNumber && `PO ${poNumber}`, isByRule && 'by rule'].filter(Boolean).join('; ');
    return `<STMTTRN><TRNTYPE>${type}</TRNTYPE><DTPOSTED>${moment(at)}</DTPOSTED><TRNAMT>${plainAmount(amount, 'USD')}</TRNAMT><FITID>${id}</FITID><NAME>${escaped(payee, 32)}</NAME><MEMO>${escaped(memo, 255)}</MEMO></STMTTRN>
`;
  },
  *assemble(subject, before, { texts, span }) {
    const existing = before === undefined ? [] : (readable(before).match(list) ?? []);
    const there = existing.map((text) => text.trimEnd().concat('\n'));
    const times = [
      ...there.flatMap((text) => /<DTPOSTED>(\d{14})/.exec(text)?.[1] ?? []),
      ...(span ? [span.first, span.last].map((at) => moment(at).slice(0, 14)) : []),
    ].sort();
    yield* inLinesOf(before, [head(subject, times), ...there]);
    yield* inLinesOf(before, texts);
    yield* inLinesOf(before, [foot(subject)]);
  },
};

/** The amount that an entry adds to the wallet, in cents. */
const amountOf = ({ postings }: Entry): number => centsOn(postings, walletAccount, 'USD');

function readStatement(text: string): AccountingContent {
  const entries: ExistingEntry[] = [];
  let broken: Broken | undefined;
  let [line, from] = [1, 0];
  for (const { index } of text.matchAll(/<STMTTRN>/g)) {
    line += text.slice(from, index).split('\n').length - 1;
    from = index;
    const [whole = ''] = /^[\s\S]*?<\/STMTTRN>/.exec(text.slice(index, index + maxLength)) ?? [];
    const id = /<FITID>([^<]+)<\/FITID>/.exec(whole)?.[1];
    if (whole === '' || whole.indexOf('<STMTTRN>', 1) > 0) broken ??= incomplete(line, id, 'it does not end');
    if (id === undefined) continue;
    const cents = readPlainAmount(/<TRNAMT>([^<]*)<\/TRNAMT>/.exec(whole)?.[1] ?? '', 'USD');
    const posting = { account: walletAccount, cents: cents ?? 0, currency: 'USD' };
    entries.push({ id, line, postings: cents === undefined ? undefined : [posting] });
  }
  if (!text.trimEnd().endsWith('</OFX>'))
    broken ??= {
      line: text.split('\n').length,
      message: 'the statement ends in the middle; move it away and run again, which writes it whole',
    };
  return { entries, others: 0, ...(broken && { broken }) };
}

/** Maximum length of a transaction, in characters. */
const maxLength = 10_000;

function head({ wallet, now }: AccountingSubject, times: readonly string[]): string {
  const [first = moment(now).slice(0, 14)] = times;
  const last = times.at(-1) ?? first;
  const ok = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>';
  return `${declaration} VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX><SIGNONMSGSRSV1><SONRS>${ok}<DTSERVER>${moment(now)}</DTSERVER><LANGUAGE>ENG</LANGUAGE><FI><ORG>errand</ORG></FI></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>0</TRNUID>${ok}<STMTRS><CURDEF>USD</CURDEF><BANKACCTFROM><BANKID>errand</BANKID><ACCTID>${accountId(wallet)}</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>
<BANKTRANLIST><DTSTART>${first}.000[0:GMT]</DTSTART><DTEND>${last}.000[0:GMT]</DTEND>
`;
}

/** The end of the statement. It contains the wallet balance that the service reports now. */
const foot = ({ balance, now }: AccountingSubject): string =>
  `</BANKTRANLIST>
<LEDGERBAL><BALAMT>${plainAmount(balance, 'USD')}</BALAMT><DTASOF>${moment(now)}</DTASOF></LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>
`;

const moment = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}.000[0:GMT]`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Truncates text to `limit` characters. Characters that XML does not allow are escaped or replaced. */
const escaped = (text: string, limit: number): string =>
  [...oneLine(text, limit * 2)]
    .slice(0, limit)
    .join('')
    .trim()
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>]/g, (mark) => entities[mark] ?? mark) || '-';
