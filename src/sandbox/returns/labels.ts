import { createHmac, timingSafeEqual } from 'node:crypto';
import { limits } from '../../api/limits.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';
import { findOrder } from '../orders/records.ts';
import { ErrorResponse } from '../server/refusal.ts';
import { readQuery } from '../server/request.ts';
import type { Route } from '../server/routes.ts';
import type { Service } from '../server/service.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { secretToken } from '../store/identity.ts';
import type { ReturnRecord, ReturnState } from './lifecycle.ts';
import { findLabel } from './records.ts';

type Signer = Pick<Service, 'store'>;

/**
 * Route of return labels. The API's route table does not list this route, because clients get the URLs of labels from
 * the returns.
 */
export const labelRoute: Route<never> = {
  method: 'GET',
  path: '/labels/{id}/{number}.pdf',
  target: { kind: 'label' },
};
const pathOf = (id: string, number: number | string): string => `/labels/${id}/${number}.pdf`;

/** The return as shown at `now` (ms), with newly signed label URLs. */
export async function withLabels(
  service: Signer & Pick<Service, 'config'>,
  { record, labels }: ReturnState,
  now: number,
): Promise<ReturnRecord> {
  if (labels === 0) return record;
  const expires = Math.floor(now / 1000) + limits.returnLabelSeconds;
  const key = await signingKey(service);
  const label_urls = Array.from({ length: labels }, (_, index) => {
    const path = pathOf(record.id, index + 1);
    return `${service.config.baseUrl}${path}?expires=${expires}&signature=${signature(key, path, expires)}`;
  });
  return { ...record, label_urls };
}

/**
 * Serves the label behind a signed URL; the signature authorises access.
 * @throws Refusal not_found if there is no such label; forbidden for a URL that is forged, modified or expired.
 */
export async function labelResponse(
  service: Signer & Pick<Service, 'clock'>,
  { id = '', number: digits = '' }: Readonly<Record<string, string>>,
  search: string,
): Promise<SandboxResponse> {
  if (!/^[0-9a-f-]{36}$/.test(id) || !/^[1-9]\d{0,3}$/.test(digits)) throw noSuchLabel();
  const path = pathOf(id, digits);
  const { expires: [expires = ''] = [], signature: [signed = ''] = [] } = readQuery(search);
  if (
    !/^\d{1,12}$/.test(expires) ||
    !isSame(signature(await signingKey(service), path, Number(expires)), signed)
  )
    throw new ErrorResponse('forbidden', 'The signature of this link does not fit it.');
  if (Number(expires) * 1000 <= service.clock.now())
    throw new ErrorResponse('forbidden', 'This link has expired; read the return again for a fresh one.');
  const record = findLabel(service.store, id, Number(digits));
  if (!record) throw noSuchLabel();
  return {
    status: 200,
    headers: {
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="return-${id.slice(0, 8)}-${digits}.pdf"`,
    },
    body: labelPdf(labelOf(record, digits, findOrder(service.store, record.order_id, null)?.record)),
  };
}

interface Label {
  readonly title: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** What the barcode says, and is read below it. */
  readonly code: string;
  readonly notes: readonly string[];
}

function labelOf(record: ReturnRecord, number: string, order: OrderRecord | undefined): Label {
  const { merchant_return_id: code, id, order_id } = record;
  const sender = order?.shipping_address;
  const town = sender && [sender.city, sender.state, sender.postal_code].filter(Boolean).join(' ');
  const host = parseUrl(order?.items[0]?.url ?? '')?.hostname ?? 'the retailer';
  return {
    title: `RETURN LABEL ${number}`,
    from: sender
      ? [
          `${sender.first_name} ${sender.last_name}`,
          sender.address_line1,
          sender.address_line2 ?? '',
          `${town}, ${sender.country}`,
        ].filter(Boolean)
      : [],
    to: ['Returns', host],
    code: codable(`${code ?? id.slice(0, 8)}-${number}`),
    notes: [`Return ${id}`, `Order ${order_id}`, 'A rehearsal: no carrier takes this label.'],
  };
}

const noSuchLabel = (): ErrorResponse =>
  new ErrorResponse('not_found', 'There is no such label.', { resource: 'return_label' });

const keyName = 'label_key';

/** The store's signing key, created on first use. */
async function signingKey({ store }: Signer): Promise<string> {
  return (
    store.meta(keyName) ??
    (await store.transaction(() => {
      const known = store.meta(keyName);
      const key = known ?? secretToken(32);
      if (known === undefined) store.setMeta(keyName, key);
      return key;
    }))
  );
}

const signature = (key: string, path: string, expires: number): string =>
  createHmac('sha256', key).update(`${path}\n${expires}`).digest('hex');

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const [width, height] = [288, 432];

const margin = 20;

/** Lines of text from a place down, points. */
const textAt = (top: number, size: number, lines: readonly string[]): string =>
  `BT /F1 ${size} Tf ${Math.ceil(size * 1.35)} TL ${margin} ${top} Td ${lines
    .map((line, index) => `${index === 0 ? '' : 'T* '}(${escaped(line.slice(0, maxLineLength))}) Tj`)
    .join(' ')} ET`;

const maxLineLength = 60;
const ruleAt = (top: number): string => `${margin} ${top} ${width - 2 * margin} 1 re f`;

/** The five bars of each character of a group in Code 39, wide ones as 1, and the wide one of the four spaces of each group. */
const bars = ['10001', '01001', '11000', '00101', '10100', '01100', '00011', '10010', '01010', '00110'];
const groups = [
  { characters: '1234567890', wideSpace: 1 },
  { characters: 'ABCDEFGHIJ', wideSpace: 2 },
  { characters: 'KLMNOPQRST', wideSpace: 3 },
  { characters: 'UVWXYZ-. *', wideSpace: 0 },
] as const;
const [wide, gap] = [2.5, 1];

/** A text in the characters of Code 39. */
const codable = (text: string): string =>
  text
    .toUpperCase()
    .replace(/[^A-Z\d. -]/g, '-')
    .slice(0, 24);

/** A barcode in Code 39 as wide as the label. */
function barcode(text: string, bottom: number, tall: number): string {
  const lines: { readonly at: number; readonly size: number }[] = [];
  let at = 0;
  for (const character of `*${text}*`) {
    const group = groups.find(({ characters }) => characters.includes(character));
    const pattern = bars[group?.characters.indexOf(character) ?? 0] ?? '';
    for (const [index, bar] of [...pattern].entries()) {
      const size = bar === '1' ? wide : 1;
      lines.push({ at, size });
      at += size + (index === 4 ? gap : index === group?.wideSpace ? wide : 1);
    }
  }
  const scale = (width - 2 * margin) / (at - gap);
  const shown = (value: number): string => (value * scale).toFixed(2);
  return lines
    .map(({ at: left, size }) => `${(margin + left * scale).toFixed(2)} ${bottom} ${shown(size)} ${tall} re`)
    .concat('f')
    .join(' ');
}

/** Generates a label of one page, 4 by 6 inches: addresses, a barcode, and what it is of. */
function labelPdf({ title, from, to, code, notes }: Label): Uint8Array {
  const page = [
    textAt(height - 36, 16, [title]),
    ruleAt(height - 48),
    textAt(height - 66, 9, ['FROM', ...from]),
    ruleAt(height - 140),
    textAt(height - 158, 9, ['TO']),
    textAt(height - 178, 14, to),
    ruleAt(height - 216),
    barcode(code, 110, 86),
    textAt(92, 11, [code]),
    ruleAt(76),
    textAt(60, 8, notes),
  ].join('\n');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Length ${page.length} >>\nstream\n${page}\nendstream`,
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  // Each xref entry is 20 bytes, including a two-byte line ending.
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${entries}`;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(`${text}${table}${trailer}`, 'latin1');
}

/** Escapes text for a PDF string; replaces characters missing from the font with a question mark. */
const escaped = (line: string): string =>
  line.replace(/[^ -~\u00a1-\u00ff]/g, '?').replace(/[\\()]/g, '\\$&');
