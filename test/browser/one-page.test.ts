import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { barChart, pageTable, pageText } from '../../src/format/page/page.ts';
import { describeInChromium, openTab } from './chromium.ts';

const folder = mkdtempSync(join(tmpdir(), 'errand-page-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hostile = [
  '<script>window.hit = 1</script>',
  '<img src=x onerror="window.hit = 1">',
  '"><svg onload=window.hit=1>',
  '</title></svg></style><style>body{display:none}</style>',
  '\u202egnp.exe\u0000\u001b[2J\ud800',
  'javascript:window.hit=1//`\'"',
  '<!--',
];

function pageOf(texts: readonly string[]): string {
  const file = join(folder, `${texts.length}.html`);
  const text = pageText({
    title: texts[0] ?? 'A page',
    about: texts,
    sections: [
      {
        heading: texts.at(-1) ?? 'Bars',
        body: [
          barChart(
            texts[1] ?? 'Bars',
            texts.map((label, value) => ({ label, value, text: label })),
          ),
          pageTable(
            [{ name: texts[0] ?? 'a' }, { name: 'amount', isNumber: true }],
            texts.map((cell) => [cell, cell]),
            [['Total', '$1.00']],
          ),
        ],
        notes: texts,
      },
    ],
  });
  writeFileSync(file, text);
  return pathToFileURL(file).href;
}

describeInChromium('one page that stands alone', (browser) => {
  test('what it is given stays text: nothing runs, nothing is requested, nothing breaks out', async () => {
    const { page, troubles } = await openTab(browser());
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const url = pageOf(hostile);
    await page.goto(url);
    expect(requests).toEqual([url]);
    expect(troubles).toEqual([]);
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(await page.locator('script, img, style:not(head > style), a').count()).toBe(0);
    expect(await page.locator('tbody tr').count()).toBe(hostile.length);
    expect(await page.locator('h1').innerText()).toBe(hostile[0]);
    expect(await page.locator('tbody tr').first().locator('td').first().innerText()).toBe(hostile[0]);
  });

  test('its own policy forbids what a hole would let in', async () => {
    const { page, troubles } = await openTab(browser());
    await page.goto(pageOf(['A', 'B']));
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<img src="https://example.com/x.png">');
      const script = document.createElement('script'); script.textContent = 'window.hit = 1';
      document.body.append(script);`);
    expect(await page.evaluate('window.hit')).toBeUndefined();
    await expect.poll(() => troubles.join('\n')).toMatch(/img-src|default-src/);
  });

  test.each(['light', 'dark'] as const)(
    'it can be read in %s, and is drawn by its style',
    async (colorScheme) => {
      const { page } = await openTab(browser(), { colorScheme });
      await page.goto(pageOf(['A', 'B', 'C']));
      const colours = (await page.evaluate(
        `(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))`,
      )) as string[];
      expect(colours).toEqual(
        colorScheme === 'light'
          ? ['rgb(26, 28, 32)', 'rgb(255, 255, 255)']
          : ['rgb(230, 232, 236)', 'rgb(21, 23, 27)'],
      );
      const widths = await page
        .locator('rect')
        .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
      expect(widths[0]).toBe(0);
      expect((widths[2] ?? 0) / (widths[1] ?? 1)).toBeCloseTo(2, 1);
    },
  );

  test('printed on A4, a table of many columns keeps its amounts whole and within the sheet', async () => {
    const { page } = await openTab(browser());
    const amounts = ['ceiling', 'charged', 'fee', 'refunded', 'credited', 'quoted'];
    const file = join(folder, 'wide.html');
    const table = pageTable(
      [
        ...['row', 'state', 'department_reference', 'cost_center', 'product'].map((name) => ({
          name,
          isProse: name === 'product',
        })),
        ...amounts.map((name) => ({ name, isNumber: true })),
        { name: 'tracking', isProse: true },
      ],
      [
        [
          ...['2000', 'order placed', 'PURCHASING-2026-0417', 'EMEA-42', '12 x 7738807104, 3'],
          ...amounts.map(() => '$12,345.67'),
          'SX420581876US SX106536402US',
        ],
      ],
    );
    writeFileSync(
      file,
      pageText({ title: 'Wide', about: [], sections: [{ heading: 'Every row', body: table }] }),
    );
    await page.goto(pathToFileURL(file).href);
    await page.emulateMedia({ media: 'print' });
    // A4 at 96 dots per inch, less Chromium's own margins of 1 cm.
    const width = 718;
    await page.setViewportSize({ width, height: 1000 });
    const cells = (await page.evaluate(`[...document.querySelectorAll('td.number')].map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return { right: range.getBoundingClientRect().right, lines: range.getClientRects().length };
    })`)) as { right: number; lines: number }[];
    expect(cells).toHaveLength(amounts.length);
    for (const { right, lines } of cells) {
      expect(right).toBeLessThanOrEqual(width);
      expect(lines).toBe(1);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  });

  test.each(['A4', 'Letter'] as const)(
    'printed on %s, it lies on its side, its head is on each sheet, and no column is cut',
    async (format) => {
      const { page } = await openTab(browser());
      const names = [
        'row',
        'state',
        'reference',
        'cost_center',
        'product',
        'ceiling',
        'charged',
        'fee',
        'refunded',
        'credited',
        'tracking',
        'why',
      ];
      const row = (number: number) => [
        String(number),
        { text: 'failed: out of stock', mood: 'bad' as const },
        `PURCHASING-2026-${number}`,
        'EMEA-42',
        '12 x 7738807104 Fennwick Dark Roast Coffee Pods',
        ...Array.from({ length: 5 }, () => '$12,345.67'),
        'SX420581876US SX106536402US',
        'The retailer does not have it any more.',
      ];
      const file = join(folder, `${format}.html`);
      const body = pageTable(
        names.map((name, at) => ({ name, isNumber: at > 4 && at < 10, isProse: at > 9 })),
        Array.from({ length: 200 }, (_, at) => row(at + 1)),
      );
      writeFileSync(
        file,
        pageText({
          title: 'Report',
          headline: '132 of 200 delivered, $6,280.99 net',
          about: [],
          sections: [{ heading: 'Every row', body }],
          footer: ['Read from embedded:'],
        }),
      );
      await page.goto(pathToFileURL(file).href);
      const pdf = (await page.pdf({ format, preferCSSPageSize: true })).toString('latin1');
      const boxes = [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(
        ([, width, height]) => Number(width) > Number(height),
      );
      expect(boxes.length).toBeGreaterThan(3);
      expect(boxes).not.toContain(false);
      await page.emulateMedia({ media: 'print' });
      const width = format === 'A4' ? 1032 : 966;
      await page.setViewportSize({ width, height: 700 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(await page.evaluate("getComputedStyle(document.querySelector('thead')).display")).toBe(
        'table-header-group',
      );
      expect(await page.locator('td.bad').count()).toBe(200);
      expect(await page.locator('footer').innerText()).toBe('Read from embedded:');
    },
  );

  test.each([360, 500, 1200])(
    '%i pixels wide, every label is read and only a table is wider',
    async (width) => {
      const { page } = await openTab(browser());
      await page.setViewportSize({ width, height: 900 });
      await page.goto(
        pageOf([`PO-${'0'.repeat(70)}`, '=HYPERLINK("http://shop.example/a/b/c")', '(none)', '$1.00']),
      );
      const sizes = (await page.evaluate(`({
      page: document.documentElement.scrollWidth,
      labels: [...document.querySelectorAll('.label')].map((it) => [it.getBoundingClientRect().left >= 0, it.scrollWidth <= it.clientWidth + 1 || it.clientWidth === 0]),
      cell: document.querySelector('tbody td').getBoundingClientRect().width,
      none: document.querySelectorAll('tbody td:first-child')[2].getBoundingClientRect().height,
    })`)) as { page: number; labels: boolean[][]; cell: number; none: number };
      expect(sizes.page).toBeLessThanOrEqual(width);
      expect(sizes.labels.flat()).not.toContain(false);
      expect(await page.locator('.label').nth(1).innerText()).toBe('=HYPERLINK("http://shop.example/a/b/c")');
      expect(sizes.cell).toBeGreaterThan(100);
      expect(sizes.none).toBeLessThan(40);
    },
  );
});
