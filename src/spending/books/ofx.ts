import { plainAmount } from '../../output/money.ts';
import { type Entry, walletAccount } from './entry.ts';
import { type BooksFormat, type BooksOf, oneLine } from './format.ts';

const accountId = (wallet: string): string => wallet.replaceAll('-', '').slice(0, 22);
const beginning = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<?OFX OFXHEADER="200"';
const list = /<STMTTRN>(?:(?!<STMTTRN>)[\s\S]){0,5000}?<\/STMTTRN>\n?/g;

/** A statement of the wallet, OFX 2.1.1: what was paid with anything else has no place in it. */
export const ofx: BooksFormat = {
  refuses: (text, { wallet }) => {
    if (!text.startsWith(beginning) || !text.includes('<ORG>errand</ORG>'))
      return 'was not written by spend export --as ofx';
    return text.includes(`<ACCTID>${accountId(wallet)}</ACCTID>`) ? undefined : 'belongs to another wallet';
  },
  *ids(text) {
    for (const [, id = ''] of text.matchAll(/<FITID>([^<]+)<\/FITID>/g)) yield id;
  },
  takes: (entry) => amountOf(entry) !== 0,
  render: (entry) => {
    const { id, kind, at, payee, text, poNumber, isByRule } = entry;
    const amount = amountOf(entry);
    const type = kind === 'fee' && amount < 0 ? 'FEE' : amount < 0 ? 'DEBIT' : 'CREDIT';
    const memo = [text, poNumber && `PO ${poNumber}`, isByRule && 'by rule'].filter(Boolean).join('; ');
    return `<STMTTRN><TRNTYPE>${type}</TRNTYPE><DTPOSTED>${moment(at)}</DTPOSTED><TRNAMT>${plainAmount(amount, 'USD')}</TRNAMT><FITID>${id}</FITID><NAME>${escaped(payee, 32)}</NAME><MEMO>${escaped(memo, 255)}</MEMO></STMTTRN>
`;
  },
  *assemble(books, before, { texts }) {
    const all = [...(before?.match(list) ?? []).map((text) => text.trimEnd().concat('\n')), ...texts];
    const times = all.flatMap((text) => /<DTPOSTED>(\d{14})/.exec(text)?.[1] ?? []).sort();
    yield head(books, times);
    yield* all;
    yield foot(books);
  },
};

/** What an entry brings to the wallet, cents. */
const amountOf = ({ postings }: Entry): number =>
  postings.reduce((sum, { account, cents }) => sum + (account === walletAccount ? cents : 0), 0);

function head({ wallet, now }: BooksOf, times: readonly string[]): string {
  const [first = moment(now).slice(0, 14)] = times;
  const last = times.at(-1) ?? first;
  const ok = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>';
  return `${beginning} VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX><SIGNONMSGSRSV1><SONRS>${ok}<DTSERVER>${moment(now)}</DTSERVER><LANGUAGE>ENG</LANGUAGE><FI><ORG>errand</ORG></FI></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>0</TRNUID>${ok}<STMTRS><CURDEF>USD</CURDEF><BANKACCTFROM><BANKID>errand</BANKID><ACCTID>${accountId(wallet)}</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>
<BANKTRANLIST><DTSTART>${first}.000[0:GMT]</DTSTART><DTEND>${last}.000[0:GMT]</DTEND>
`;
}

/** The ledger's balance is what the service says the wallet holds now. */
const foot = ({ balance, now }: BooksOf): string =>
  `</BANKTRANLIST>
<LEDGERBAL><BALAMT>${plainAmount(balance, 'USD')}</BALAMT><DTASOF>${moment(now)}</DTASOF></LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>
`;

const moment = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}.000[0:GMT]`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** At most so many characters, each of which XML may hold. */
const escaped = (text: string, limit: number): string =>
  [...oneLine(text, limit * 2)]
    .slice(0, limit)
    .join('')
    .trim()
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>]/g, (mark) => entities[mark] ?? mark) || '-';
