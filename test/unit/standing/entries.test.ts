import { describe, expect, test } from 'vitest';
import { fileOfStandingOrders } from '../../../src/api/schemas/standing-file.ts';
import { entryFields, readEntries } from '../../../src/standing/entries.ts';

const order = `    order:
      products: [{ url: "https://shop.example/a" }]
      max_price: 5000
`;
const file = (fields: string): string => `version: 1
orders:
  coffee:
${fields
  .split('\n')
  .map((line) => `    ${line}\n`)
  .join('')}${order}`;

const whole = 'id: 0d0f84a09372\nevery: 2w\nstarts: 2026-12-01';
const read = (text: string) => readEntries('standing.yaml', text);
const refusal = (text: string): string => {
  try {
    read(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'nothing is wrong';
};

describe('a file', () => {
  test('may be empty', () => {
    expect(read('')).toEqual([]);
    expect(read('version: 1\norders: {}\n')).toEqual([]);
  });

  test('has what it says, and defaults', () => {
    const [entry] = read(file(whole));
    expect(entry).toMatchObject({
      ...{
        name: 'coffee',
        id: '0d0f84a09372',
        lateMs: 86_400_000,
        skipped: [],
        isPaused: false,
        agreement: undefined,
      },
      schedule: { atMinute: 0, timeZone: 'UTC' },
      position: 'standing.yaml, line 3, column 3',
    });
  });

  test('has all fields of its published schema, and no others', () => {
    const { orders } = fileOfStandingOrders().shape;
    const entry = orders.unwrap().valueType;
    expect(Object.keys(entry.shape).toSorted()).toEqual([...entryFields].toSorted());
  });

  test.each([
    [
      'a word that is not known',
      `${whole}\nevry: 2w`,
      'line 7, column 5: "evry" is not known in orders.coffee; did you mean every?',
    ],
    [
      'a date that does not exist',
      `${whole}\nskip: [2026-02-30]`,
      'line 7, column 12: orders.coffee.skip[1] takes a date such as 2026-12-01, not "2026-02-30"',
    ],
    [
      'a cadence of another kind',
      'id: 0d0f84a09372\nevery: 2y\nstarts: 2026-12-01',
      'line 5, column 12: orders.coffee.every takes a cadence such as 1d, 2w or 1mo, not "2y"',
    ],
    [
      'no first date',
      'id: 0d0f84a09372\nevery: 2w',
      'line 4, column 5: orders.coffee has no starts: the first date, such as 2026-12-01',
    ],
    [
      'both cadence and dates',
      `${whole}\ndates: [2026-12-01]`,
      'line 7, column 12: orders.coffee.dates and every exclude each other; give one',
    ],
    [
      'a zone of no place',
      `${whole}\ntime_zone: Mars/Olympus`,
      'line 7, column 16: orders.coffee.time_zone takes a time zone such as Europe/Berlin, not "Mars/Olympus"',
    ],
    [
      'a time of no day',
      `${whole}\nat: "24:00"`,
      'line 7, column 9: orders.coffee.at takes a time of day such as "07:30", not "24:00"',
    ],
    [
      'hardly any lateness',
      `${whole}\nlate: 5m`,
      'line 7, column 11: orders.coffee.late is 5m; at least 1h, since what runs the orders may be late itself',
    ],
    [
      'too much lateness',
      `${whole}\nlate: 90d`,
      'line 7, column 11: orders.coffee.late takes a length of time from 1h to 60d, such as 12h or 2d, not "90d"',
    ],
    [
      'a moment that does not exist',
      `${whole}\nsince: 2026-02-31T00:00:00Z`,
      'line 7, column 12: orders.coffee.since takes a time such as 2026-12-01T09:00:00Z',
    ],
    [
      'an id that is read as a number',
      'id: 012345678901\nevery: 2w\nstarts: 2026-12-01',
      'line 4, column 9: 012345678901 is read as 12345678901; write numbers in decimal digits',
    ],
    [
      'an end before the start',
      `${whole}\nends: 2026-11-01`,
      'line 7, column 11: orders.coffee.ends is before starts, 2026-12-01',
    ],
    ['a field twice', `${whole}\nevery: 1w`, 'line 7, column 5: "every" is given twice'],
    [
      'an id of another kind',
      'id: coffee\nevery: 2w\nstarts: 2026-12-01',
      'line 4, column 9: orders.coffee.id takes 12 hexadecimal digits',
    ],
  ])('with %s is refused with line and column', (_, fields, message) => {
    expect(refusal(file(fields))).toContain(`standing.yaml, ${message}`);
  });

  test.each([
    [
      'max_price: 5000',
      'max_price: 50.00',
      'orders.coffee.order.max_price is 50.00, and files carry integer cents',
    ],
    ['max_price: 5000', 'max_price: 0x1388', '0x1388 is read as 5000; write numbers in decimal digits'],
    [
      'max_price: 5000',
      'max_price: 5000\n      shipping_address: { postal_code: 02134 }',
      '02134 is read as 2134; write numbers in decimal digits, such as 5000, and text in quotes',
    ],
    ['coffee:', '012:', '012 is read as 12; write numbers in decimal digits'],
  ])('with what a program would write otherwise is refused: %s as %s', (from, to, message) => {
    expect(refusal(file(whole).replace(from, to))).toContain(message);
  });

  test('with an alias is refused', () => {
    const text = `${file(whole)}  tea: *coffee\n`.replace('coffee:', 'coffee: &coffee');
    expect(refusal(text)).toContain('line 10, column 8: *coffee is an alias');
  });

  test('with one id twice is refused', () => {
    const text = `${file(whole)}  tea:\n    id: 0d0f84a09372\n    every: 1w\n    starts: 2026-12-01\n${order}`;
    expect(refusal(text)).toContain('tea has the id of coffee');
  });

  test.each(['reference: A-1', 'idempotency_key: abc'])('with %s in an order is refused', (line) => {
    expect(refusal(`${file(whole)}      ${line}\n`)).toContain('the reference follows from the entry');
  });
});

describe('a version', () => {
  const versionOf = (fields: string): string | undefined => read(file(fields))[0]?.version;

  test('follows from what is bought and when, and from nothing else', () => {
    const first = versionOf(whole);
    expect(first).toBe('b89cbf41fe89');
    for (const same of [
      'paused: true',
      'live: true',
      'live: policy',
      'skip: [2026-12-15]',
      'since: 2026-12-01T00:00:00Z',
      'former: ["aaaaaaaaaaaa"]',
      'late: 24h',
    ])
      expect(versionOf(`${whole}\n${same}`)).toBe(first);
    for (const other of ['late: 2d', 'at: "07:30"', 'time_zone: Europe/Berlin', 'count: 3'])
      expect(versionOf(`${whole}\n${other}`)).not.toBe(first);
  });
});
