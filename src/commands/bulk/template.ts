import { plainBulkFields } from '../../api/bulk-columns.ts';
import { defineCommand } from '../../cli/define.ts';

const optional = ['address_line2', 'state', ...plainBulkFields.map(([name]) => name), 'idempotency_key'];

/** Formats a comment as lines of at most 100 characters. On each line, the words start in the same column. */
function described(title: string, words: readonly string[]): string[] {
  const lines = [`# ${title.padEnd(16)}`];
  for (const [index, word] of words.entries()) {
    const text = index === words.length - 1 ? word : `${word},`;
    const line = `${lines.at(-1)} ${text}`;
    if (line.length > 100) lines.push(`#${' '.repeat(17)} ${text}`);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

const lines = [
  '# One row is one order. Lines that begin with # before the headings are left out.',
  '# product_url      the product page; several products of one order are separated by |',
  '# quantity         a whole number; with several products as many, separated by |, or one for all (default 1)',
  '# max_price_cents  the most this order may cost, in cents: 5000 is $50.00',
  '#                  (or max_price, in dollars with a sign or decimals in every row: $50.00 or 50.00)',
  '# name             first and last name; or two columns, first_name and last_name',
  '# country          two letters (default US)',
  '# errand_reference your own name for the order, such as a requisition: each is bought once, for good',
  ...described('also known', [...optional, 'metadata.KEY; every other column comes back in the results']),
];

const headings = [
  'product_url',
  'quantity',
  'max_price_cents',
  'name',
  'address_line1',
  'city',
  'state',
  'postal_code',
  'country',
  'phone_number',
  'metadata.team',
  'errand_reference',
];

export const template = defineCommand({
  name: 'template',
  summary: 'Print an example of the CSV that bulk takes, with comments',
  examples: [
    { command: 'errand bulk template > orders.csv', note: 'a file to fill in' },
    { command: 'errand bulk template | errand bulk validate - --local', note: 'it is valid as it stands' },
  ],
  output: { text: 'a CSV' },
  related: ['bulk validate', 'bulk upload'],
  writesCsv: () => true,
  async run() {
    const rows = [
      [
        'https://www.example.com/products/1',
        '1',
        '5000',
        'Ada Byron',
        '1 Main St',
        'Austin',
        'TX',
        '78701',
        'US',
        '5125550100',
      ],
      [
        'https://www.example.com/products/2|https://www.example.com/products/3',
        '2|1',
        '12000',
        'Grace Hopper',
        '5 Broad St',
        'Austin',
        'TX',
        '78701',
        'US',
        '5125550101',
      ],
    ].map((cells, index) => [...cells, 'blue', `A-${index + 1}`]);
    return {
      kind: 'stream',
      isCsv: true,
      chunks: [`${[...lines, headings.join(','), ...rows.map((row) => row.join(','))].join('\n')}\n`],
    };
  },
});
