import { expect, test } from 'vitest';
import { planColumns } from '../../src/api/bulk-columns.ts';
import { readBulkRow } from '../../src/api/bulk-row.ts';
import { compareDocuments } from '../../src/api/drift/compare.ts';
import { planTable } from '../../src/bulk/csv/headings.ts';
import { likenessOf } from '../../src/bulk/csv/mapping.ts';
import { detailLines } from '../../src/cli/output/error-text.ts';
import { toJson } from '../../src/cli/output/json.ts';
import { paintFor, paintStatus } from '../../src/cli/output/paint.ts';
import { recordLines } from '../../src/cli/output/record-view.ts';
import { inferColumns } from '../../src/cli/output/select.ts';
import { yamlFormat } from '../../src/cli/output/yaml.ts';
import { safeFileName } from '../../src/commands/return/labels.ts';
import { csvFormat } from '../../src/format/csv.ts';
import { formatMoney } from '../../src/format/money.ts';
import { parseDocument } from '../../src/format/parse-document.ts';
import { cut, cutStart, fullMeasure, pad } from '../../src/format/width.ts';
import { readAuthChallenges, readPaymentChallenges } from '../../src/http/payment-challenge.ts';
import { readCredential } from '../../src/http/payment-credential.ts';
import { curlCommand } from '../../src/http/preview.ts';
import { parseJson } from '../../src/http/response.ts';
import { readRetryAfter } from '../../src/http/send.ts';
import { readSent } from '../../src/http/sent-records.ts';
import { readErrorBody } from '../../src/http/service-error.ts';
import { maskAddress } from '../../src/integrations/webhooks/listener.ts';
import { readArrival } from '../../src/integrations/webhooks/reading.ts';
import { createRedactor } from '../../src/platform/redact/redactor.ts';
import { safeLines, safeText } from '../../src/platform/redact/safe-text.ts';
import { secretsSent } from '../../src/platform/redact/secrets-sent.ts';
import { readJson } from '../../src/sandbox/server/request.ts';
import { growth, linear } from './growth.ts';

/** Long texts that fail only at the end, to trigger backtracking in a careless regex or loop. */
const hostile: Readonly<Record<string, (size: number) => string>> = {
  spaces: (size) => `${' '.repeat(size)}x`,
  'spaces within': (size) => `x${' '.repeat(size)}x`,
  slashes: (size) => `https://a.example${'/'.repeat(size)}x`,
  backslashes: (size) => `"${'\\'.repeat(size)}`,
  dots: (size) => `${'. '.repeat(size / 2)}x`,
  digits: (size) => `${'1'.repeat(size)}x`,
  letters: (size) => `${'a'.repeat(size)}!`,
  emoji: (size) => '👩‍'.repeat(size / 3),
  controls: (size) => '\u001b\u202e'.repeat(size / 2),
  quotes: (size) => '"\''.repeat(size / 2),
  brackets: (size) => '[{('.repeat(size / 3),
  equals: (size) => 'a=b,'.repeat(size / 4),
  metadata: (size) => `metadata.${' '.repeat(size)}x`,
  'lines and tabs': (size) => '\r\n\t'.repeat(size / 3),
  percents: (size) => '%25%2f'.repeat(size / 6),
  keys: (size) => 'xx_test_'.repeat(size / 8),
  joiners: (size) => '\u200d\ufe0f\r'.repeat(size / 3),
  'upper and lower': (size) => 'aA1'.repeat(size / 3),
  'escaped quotes': (size) => `"${'\\\\\\"'.repeat(size / 4)}"`,
};

const measure = await fullMeasure();
const paint = await paintFor(false);
const knowing = createRedactor();
knowing.remember(['aaaaaaaa1', '%%%%%%%%x', '        y', '\\\\\\\\\\\\z', '....////']);
const plan = planColumns([
  'product_url',
  'quantity',
  'max_price',
  'name',
  'postal_code',
  'phone_number',
  'is_gift',
]);
const jsonLimits = { entries: 1_000, values: 10_000 };
const column = { name: 'a', path: 'a', weight: 1 };
const challenge = { scheme: 'payment', id: 'c', method: 'm', parameters: {} };

const consumers: Readonly<Record<string, (text: string) => unknown>> = {
  safeText: (text) => safeText(text, Number.POSITIVE_INFINITY),
  safeLines,
  safeFileName,
  toJson: (text) => toJson({ [text]: [text] }),
  yaml: (text) => yamlFormat((row) => row).whole({ a: text, [text]: 1 }),
  csv: (text) => csvFormat([column], { delimiter: ',', raw: false, visible: true }).whole({ a: text }),
  'columns of a record': (text) => inferColumns([{ [text]: text }]),
  record: (text) =>
    recordLines(
      { a: text, b: { [text]: text } },
      [column, { ...column, path: 'b' }],
      { paint, now: Date.now, width: 80, utc: true },
      new Set(),
      true,
    ),
  cut: (text) => [cut(text, 20, measure), cutStart(text, 20, measure), pad(text, 30, 'right', measure)],
  paint: (text) => paintStatus(text, paint),
  money: (text) => formatMoney(BigInt(`1${text.replace(/\D/g, '').slice(0, 5000)}`)),
  details: (text) =>
    detailLines({ code: null, details: { [text]: text, list: [{ loc: [text], msg: text }] }, message: text }),
  'error body': (text) =>
    readErrorBody(
      new TextEncoder().encode(JSON.stringify({ code: text, message: text, details: { [text]: text } })),
    ),
  json: (text) => parseJson(new TextEncoder().encode(text)),
  records: (text) => [
    readSent(new TextEncoder().encode(`{"orders":[{"x":${JSON.stringify(text)}}]}`), 'orders'),
    readSent(new TextEncoder().encode(`{"orders":[{"x":${text}`), 'orders'),
  ],
  'auth challenges': (text) => [
    readAuthChallenges(text),
    readAuthChallenges(`Payment a="${text}`),
    readAuthChallenges(`Payment ${text}`),
  ],
  'payment challenges': (text) =>
    readPaymentChallenges({ 'www-authenticate': [`Payment id="${text}", request="${text}"`] }),
  credential: (text) => readCredential(`Payment ${text}`, challenge as never),
  'retry-after': (text) => readRetryAfter({ 'retry-after': text }, 0),
  curl: (text) => curlCommand({ method: 'POST', url: text, headers: { a: text }, body: text }),
  redactor: (text) => [knowing.text(text), knowing.start(text, 1000), knowing.value({ [text]: text })],
  'secrets sent': (text) =>
    secretsSent({
      url: new URL('https://a.example'),
      headers: { authorization: text, 'x-api-key': text },
      body: new TextEncoder().encode(`password=${text}`),
    }),
  headings: (text) => planColumns([text, text, `x${text}`]),
  'a table': (text) => thrown(() => planTable('t.csv', text.split(/[ ,./]/), { map: {} })),
  'a row': (text) => readBulkRow(plan, [text, text, text, text, text, text, text]),
  'a heading': (text) => likenessOf('city', text),
  'a body of a request': (text) => thrown(() => readJson(new TextEncoder().encode(text), jsonLimits)),
  'a webhook': (text) =>
    readArrival(new TextEncoder().encode(JSON.stringify({ event: text, [text]: text })), text),
  'an address': (text) => maskAddress(text),
  'a YAML file': (text) =>
    thrown(() => parseDocument('x.yaml', `a: ${JSON.stringify(text)}\nb: |\n  x`, false, ['a'])),
  'a description': (text) =>
    compareDocuments(
      { paths: {} },
      { paths: { [text]: { get: { parameters: [{ name: text, in: 'query' }] } } } },
    ),
};

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test.each(Object.entries(consumers))('%s takes time in proportion to the text', async (_, consume) => {
  const slow: string[] = [];
  for (const [name, make] of Object.entries(hostile)) {
    const times = await growth((size) => consume(make(size)), 5_000);
    if (times > linear) slow.push(`${name}: ${times.toFixed(0)} times as long for 10 times as much`);
  }
  expect(slow).toEqual([]);
});

test('a map of many keys takes time in proportion to their number', async () => {
  const keys = (size: number): string => Array.from({ length: size }, (_, at) => `k${at}: v\n`).join('');
  const read = (size: number) => parseDocument('order.yaml', keys(size), false, ['max_price']);
  expect(await growth(read, 4_000)).toBeLessThan(linear);
});
