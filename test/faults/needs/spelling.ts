import { Random } from '../random.ts';
import type { Need, Run } from './history.ts';

const people = [
  ['Zoë', 'Müller'],
  ['Zoë', 'Miller'],
  ['Jürgen', "O'Neil"],
  ['Mary Ann', 'Lee'],
] as const;

/** The ceiling of an order in its plain spelling, cents. */
export const plainCeiling = 20_000;

/** The same recipient, product and occasion, as somebody else would write them. */
export function spelledOrder(
  need: Need,
  { spelling, isMore }: Pick<Run, 'spelling' | 'isMore'>,
  shopUrl: string,
) {
  const random = new Random(spelling);
  // The plain spelling is the first of each list.
  const pick = <T>(...values: readonly [T, ...T[]]): T => (spelling === 0 ? values[0] : random.pick(values));
  const cased = (text: string): string => pick(text, text.toUpperCase(), text.toLowerCase(), ` ${text} `);
  const bare = (text: string): string => pick(text, text.normalize('NFD').replace(/\p{M}/gu, ''));
  const [first, last] = people[need.recipient] ?? people[0];
  const page = pick(
    need.slug,
    `${need.slug}?utm_source=mail&utm_campaign=x`,
    `${need.slug}/`,
    `${need.slug}#reviews`,
    `${need.slug}?gclid=1`,
  );
  return {
    products: [
      {
        url: `${pick(shopUrl, shopUrl.replace('sandbox', 'SANDBOX'))}/${page}`,
        quantity: need.quantity + (isMore ? 1 : 0),
      },
    ],
    shipping_address: {
      first_name: cased(bare(first)),
      last_name: cased(bare(last)),
      address_line1: cased(pick('12 North Main Street', '12 N. Main St', '12 North Main St.')),
      address_line2: pick('Apt 4', 'apt. 4', '#4', 'Unit 4'),
      city: cased('Boston'),
      state: pick('MA', 'Massachusetts', 'ma'),
      postal_code: pick('02118', '02118-1234'),
      country: pick('US', 'us'),
      phone_number: pick('5125550100', '(512) 555-0100', '+1 512 555 0100', '6175550199'),
    },
    max_price: pick(plainCeiling, 20_001, 25_000, 30_000),
    metadata: { hidden: need.hidden, ...pick({}, { team: 'office' }, { cost_centre: '12', team: 'lab' }) },
    ...pick({}, { po_number: `PO-${spelling}` }, { is_gift: true, gift_message: 'enjoy' }),
  };
}

/** The rows of needs as one more save of a spreadsheet has them, and the options with which it is read. */
export function spelledFile(needs: readonly Need[], run: Run, shopUrl: string) {
  const random = new Random(run.spelling);
  const pick = <T>(...values: readonly [T, ...T[]]): T =>
    run.spelling === 0 ? values[0] : random.pick(values);
  const extra = pick('', 'Cost Centre', 'Notes');
  const limit = pick('max_price', 'Ceiling');
  const headings = [
    'product_url',
    'quantity',
    limit,
    'name',
    'address',
    'unit',
    'city',
    'state',
    'zip',
    'country',
    'phone',
    'metadata.hidden',
  ];
  const isNamed = needs.some(({ reference }) => reference !== undefined);
  const all = [...headings, ...(isNamed ? ['Requisition'] : []), ...(extra === '' ? [] : [extra])];
  const rows = needs.map((need) => {
    const order = spelledOrder(
      need,
      { ...run, spelling: run.spelling && run.spelling + need.recipient },
      shopUrl,
    );
    const to = order.shipping_address;
    const [{ url, quantity } = { url: '', quantity: 1 }] = order.products;
    return [
      ...[
        url,
        quantity,
        (order.max_price / 100).toFixed(2),
        `${to.first_name} ${to.last_name}`,
        to.address_line1,
      ],
      ...[to.address_line2, to.city, to.state, to.postal_code, to.country, to.phone_number, need.hidden],
      ...(isNamed ? [need.reference ?? ''] : []),
      ...(extra === '' ? [] : [`x${run.spelling}`]),
    ];
  });
  const shuffled = pick(false, true) ? rows.toReversed() : rows;
  return {
    text: [all, ...shuffled].map((cells) => `${cells.map(cell).join()}\n`).join(''),
    flags: [
      ...(limit === 'Ceiling' ? ['--map', 'Ceiling=max_price'] : []),
      ...(extra === 'Cost Centre' ? ['--map', 'Cost Centre=metadata.cost_centre'] : []),
      ...(isNamed ? ['--reference-column', 'Requisition'] : []),
      ...(isNamed && needs[0]?.namespace !== undefined ? ['--namespace', needs[0].namespace] : []),
    ],
  };
}

const cell = (value: string | number): string => `"${String(value).replaceAll('"', '""')}"`;
