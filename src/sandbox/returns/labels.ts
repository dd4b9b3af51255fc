import { createHmac, timingSafeEqual } from 'node:crypto';
import { limits } from '../../api/limits.ts';
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
    body: labelPdf([
      `Return label ${digits}`,
      record.merchant_return_id ?? '',
      `Return ${record.id}`,
      `Order ${record.order_id}`,
      'A rehearsal: no carrier takes this label.',
    ]),
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

/** Generates a PDF with one page of 4 by 6 inches. Prints each element of `lines` on a line of its own. */
function labelPdf(lines: readonly string[]): Uint8Array {
  const shown = lines.map((line, index) => `${index === 0 ? '' : 'T* '}(${escaped(line)}) Tj`);
  const page = `BT /F1 11 Tf 16 TL 24 ${height - 48} Td ${shown.join(' ')} ET`;
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
const escaped = (line: string): string => line.replace(/[^ -~]/g, '?').replace(/[\\()]/g, '\\$&');
