import type { Page } from 'playwright-core';
import { beforeEach, expect, test, vi } from 'vitest';
import { hostile } from '../support/hostile-text.ts';
import { hangsAfterMs } from '../support/limits.ts';
import { address } from '../support/order-body.ts';
import { Receiver } from '../support/receiver.ts';
import type { TestService } from '../support/service.ts';
import { describeInChromium } from './chromium.ts';
import { useTabs } from './tabs.ts';

describeInChromium('the pages in a browser', (browser) => {
  const { service: running, at, open } = useTabs(browser);
  let service: TestService;
  beforeEach(() => {
    service = running();
  });

  test.each([true, false])('a sandbox is claimed by its form (JavaScript: %s)', async (javaScriptEnabled) => {
    const minted = (await service.send('POST', '/sandbox/keys', {}, null)).body;
    const page = await open(new URL(minted.claim_url).pathname, { javaScriptEnabled });
    await page.getByLabel('Your email').fill('ada@example.com');
    await page.getByRole('button', { name: 'Claim it' }).click();
    await page.getByText('The sandbox belongs to ada@example.com now.').waitFor();
    const status = await service.send('GET', '/sandbox/status', undefined, minted.api_key);
    expect(status.body.claimed_by_email).toBe('ada@example.com');
  });

  test.each([1, 2])(
    'an underscore in a link stands apart from the underline (%i pixels a point)',
    async (scale) => {
      const receiver = await Receiver.start();
      try {
        await service.send('POST', '/users', { webhook_url: receiver.at() });
        const id = (await service.order('test-slow')).body.id;
        await service.send('POST', `/orders/${id}/cancel`);
        await receiver.until(1);
        for (const path of ['/console/deliveries', `/console/orders/${id}`]) {
          const tab = await open(path, { deviceScaleFactor: scale });
          await tab.getByRole('link', { name: 'status_updated' }).first().waitFor();
          expect(await inkAtUnderscore(tab, 'status_updated'), path).toMatch(/#\.+#+\.*$/);
        }
      } finally {
        await receiver.stop();
      }
    },
  );

  test.each([true, false])('a device is approved by its form (JavaScript: %s)', async (javaScriptEnabled) => {
    const started = (await service.send('POST', '/device/code', undefined, null)).body;
    const { pathname, search } = new URL(started.verification_uri_complete);
    const page = await open(`${pathname}${search}`, { javaScriptEnabled });
    expect(await page.getByLabel('Code').inputValue()).toBe(started.user_code);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('You can close this page').waitFor();
    const { device_code } = started;
    expect((await service.send('POST', '/device/token', { device_code }, null)).status).toBe(200);
  });

  test('public tracking moves to delivered while it is read', async () => {
    const page = await open(`/track/${(await service.order('test-two-packages')).body.id}`);
    await page.getByText('No parcel.').waitFor();
    service.pass(12_000);
    await page.getByText('Delivered: left at the front door').nth(1).waitFor();
  });

  test('without JavaScript all of it is there after a reload', async () => {
    const receiver = await Receiver.start();
    try {
      await service.send('POST', '/users', { webhook_url: receiver.at() });
      const page = await open('/', { javaScriptEnabled: false });
      const { id } = (await service.order('test-slow')).body;
      await page.getByRole('link', { name: 'Reload' }).click();
      await page.locator(`#order-${id}`).getByRole('link').click();
      await page.getByRole('button', { name: 'cancel' }).click();
      await page.getByText('Order cancelled').waitFor();
      await receiver.until(1);
      const replay = page.getByRole('button', { name: /^Replay status_updated/ });
      await vi.waitFor(async () => {
        await page.goto(at('/console/deliveries'));
        expect(await replay.count()).toBe(1);
      }, hangsAfterMs);
      await replay.click();
      await receiver.until(2);
      await page.goto(at('/console/deliveries'));
      expect(await page.locator('tbody tr').count()).toBe(2);
      expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    } finally {
      await receiver.stop();
    }
  });

  /** Places an order with the same text in every free-text field. */
  const orderOf = async (text: string): Promise<string> => {
    const response = await service.order('test-two-packages', {
      products: [
        { url: service.product('test-two-packages'), variant: [{ label: text, value: text }] },
        { url: `${service.product('test-success')}?${encodeURIComponent(text)}` },
      ],
      shipping_address: { ...address, first_name: text, last_name: text, address_line1: text, city: text },
      metadata: { [text.slice(0, 50)]: text },
      po_number: text,
      is_gift: true,
      gift_message: text,
    });
    expect(response.status).toBe(201);
    service.pass(12_000);
    return response.body.id;
  };
  const pagesOf = (id: string): string[] => [
    '/',
    `/console/orders/${id}`,
    '/console/orders',
    '/console/requests',
    '/console/keys',
    '/shop',
    '/shop/test-quantity-limit',
    '/device',
    `/track/${id}`,
  ];

  test('hostile text of an order runs nowhere, neither at first nor when a live page takes it in', async () => {
    service.key = await service.mint({ name: hostile, email: 'ada@example.com' });
    const page = await open('/');
    const id = await orderOf(hostile);
    await service.send('GET', `/${encodeURIComponent(hostile)}?${encodeURIComponent(hostile)}`);
    await page.locator(`#order-${id}`).waitFor();
    for (const path of pagesOf(id)) {
      await page.goto(at(path));
      await page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true })");
      expect(await page.locator('main img, main svg, main script').count(), path).toBe(0);
    }
  });

  test('no page is wider than a phone', async () => {
    const text = 'unbroken'.repeat(25);
    service.key = await service.mint({ name: text, email: `${'a'.repeat(60)}@example.com` });
    const id = await orderOf(text);
    await service.send('GET', `/${text}`);
    await service.send('POST', '/users', { webhook_url: `http://127.0.0.1:9/${text}?${text}` });
    const failed = (await service.order('test-out-of-stock')).body.id;
    service.pass(12_000);
    await service.send('GET', `/orders/${failed}`);
    const page = await open('/', { viewport: { width: 320, height: 640 }, isMobile: true });
    for (const path of [...pagesOf(id), `/console/orders/${failed}`, '/console/deliveries']) {
      await page.goto(at(path));
      const wide = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(wide, path).toBe(0);
    }
  });

  test.each(['light', 'dark'] as const)('text can be read on its ground in %s', async (colorScheme) => {
    const page = await open('/', { colorScheme });
    for (const path of pagesOf(await orderOf('plain'))) {
      await page.goto(at(path));
      expect(await page.evaluate(faintTexts), path).toEqual([]);
    }
  });
});

/** Texts with a contrast ratio below 4.5 against their background (WCAG 2, 1.4.3). */
const faintTexts = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => channels(color).slice(0, 3)
    .map((value) => value / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (channels(color)[3] !== 0) return color;
    }
    return 'rgb(255,255,255)';
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue.trim() !== '');
  return [...document.body.querySelectorAll('*')].filter((it) => hasText(it) && it.getClientRects().length > 0 && it.nodeName !== 'SCRIPT').flatMap((it) => {
    const [one, other] = [luminance(getComputedStyle(it).color), luminance(ground(it))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    return contrast < 4.5 ? [it.nodeName + ' ' + it.textContent.trim().slice(0, 30) + ' ' + contrast.toFixed(2)] : [];
  });
})()`;

/** The pixel rows through and below the middle of the underscore in a link, from the top: `#` means ink. */
async function inkAtUnderscore(page: Page, text: string): Promise<string> {
  const clip = (await page.evaluate(`(() => {
    const link = [...document.querySelectorAll('a')].find((one) => one.textContent === ${JSON.stringify(text)});
    link.scrollIntoView({ block: 'center' });
    const range = document.createRange();
    const at = link.firstChild.data.indexOf('_');
    range.setStart(link.firstChild, at);
    range.setEnd(link.firstChild, at + 1);
    const { left, top, width, height } = range.getBoundingClientRect();
    return { x: left + width * 0.4, y: top, width: width * 0.2, height: height + 6 };
  })()`)) as { x: number; y: number; width: number; height: number };
  const picture = (await page.screenshot({ clip })).toString('base64');
  const blank = await page.context().newPage();
  try {
    return (await blank.evaluate(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${picture}';
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      const shades = Array.from({ length: image.height }, (_, y) =>
        context.getImageData(image.width >> 1, y, 1, 1).data.slice(0, 3).reduce((sum, one) => sum + one));
      return shades.map((shade) => (Math.abs(shade - shades[0]) > 120 ? '#' : '.')).join('');
    })()`)) as string;
  } finally {
    await blank.close();
  }
}
