import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { createKernel } from 'sluice';
import { keepTimeline, memoryJournal, timelineRecorder } from 'sluice/host';
import { startTestHost } from 'sluice/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Inspector, startInspector } from '../../src/index.js';
import { ask, knowing, partsOf } from '../ask.js';
import { openBrowser, openPage, problems } from './lab.js';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
afterEach(() => {
  expect(problems.splice(0)).toEqual([]);
});

describe('another page of the same browser', () => {
  let inspector: Inspector;
  let other: Page;
  let site: ReturnType<typeof createServer>;

  beforeAll(async () => {
    inspector = await startInspector({ name: 'a test', reader: memoryJournal() });
    site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>other</title>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    other = await browser.newPage();
    await other.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`); // it listens at a port
  });
  afterAll(async () => {
    site.closeAllConnections();
    site.close();
    await inspector[Symbol.asyncDispose]();
  });

  it('reads nothing, with the token and without it', async () => {
    const { origin, token } = partsOf(inspector);
    for (const path of ['/', '/page/main.js', '/api/about', '/api/events'])
      for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
        const got = await other.evaluate(
          `fetch(${JSON.stringify(origin + path)}, { headers: ${JSON.stringify(headers)} })
            .then((answer) => answer.text(), (error) => 'refused')`,
        );
        expect([path, got]).toEqual([path, 'refused']);
      }
  });

  it('can neither run its scripts, nor hold it in a frame, nor send it a form', async () => {
    const { origin } = partsOf(inspector);
    const ran = await other.evaluate(
      `new Promise((resolve) => {
        const script = document.createElement('script');
        script.type = 'module';
        script.src = ${JSON.stringify(`${origin}/page/main.js`)};
        script.onload = () => resolve('ran');
        script.onerror = () => resolve('refused');
        document.head.append(script);
      })`,
    );
    expect(ran).toBe('refused');
    const posted = await other.evaluate(
      `fetch(${JSON.stringify(`${origin}/api/purge`)}, { method: 'POST', mode: 'no-cors', body: '{"ids":["a"]}' })
        .then((answer) => answer.status + answer.type, () => 'refused')`,
    );
    expect(posted).not.toMatch(/^200/);
    const loaded: number[] = [];
    other.on('response', (response) => {
      if (response.url().startsWith(origin)) loaded.push(response.status());
    });
    await other.evaluate(
      `new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.src = ${JSON.stringify(origin)};
        frame.onload = resolve;
        document.body.append(frame);
      })`,
    );
    expect(loaded).toEqual([403]);
  });
});

describe('hostile texts of a message', () => {
  const texts = [
    '<script>globalThis.hit = 1</script><img src=x onerror="globalThis.hit = 2">',
    '</pre></bdi><svg onload="globalThis.hit = 3"><a href="javascript:globalThis.hit=4">x</a>',
    '\u001b[2J\u001b]0;owned\u0007 \u202eevil\u202c \u2066right to left\u2069 \u0000',
    'x'.repeat(1_000_000),
  ];

  it('do nothing in any view, and are shown as they are', async () => {
    const journal = memoryJournal();
    const timeline = timelineRecorder();
    timeline.listen(keepTimeline(journal, { maxDispatchLength: 8_000_000 }));
    await using host = await startTestHost({
      journal: { opened: journal, closes: false },
      timeline,
    });
    for (const text of texts) await host.say(text);
    timeline.record(() => ({
      ...{ kind: 'update', id: texts[0] ?? '', correlationId: 'u-x', state: 'dead' },
      reason: texts[2] ?? '',
    }));
    await using inspector = await startInspector(
      { name: texts[0] ?? '', reader: journal, tended: journal },
      { write: true, text: true },
    );
    const page = await openPage(browser, inspector.url);
    const { body } = await ask(inspector, '/api/list?q=family:egress.preparing', {
      headers: knowing(inspector),
    });
    const { rows } = JSON.parse(body) as { readonly rows: readonly { readonly id: string }[] };
    expect(rows).toHaveLength(texts.length);
    const { origin } = new URL(inspector.url);
    for (const { id } of rows) {
      await page.goto(`${origin}/#/why/${encodeURIComponent(id)}`);
      const stage = page.locator('details[open]', { hasText: id });
      await stage.getByRole('button', { name: 'Payload' }).click();
      await stage.getByRole('heading', { name: 'Emitted' }).waitFor();
      const all = stage.getByRole('button', { name: /^Show all/ });
      if ((await all.count()) > 0) await all.first().click();
    }
    await page.goto(`${origin}/#/why/u-x`);
    await page.getByText('\\u001b[2J').first().waitFor(); // written out, and turned by nothing
    expect(
      await page.evaluate(String.raw`/[\u001b\u202e\u2066]/.test(document.body.innerText)`),
    ).toBe(false);
    for (const name of ['Messages', 'Dead letters']) await page.getByRole('link', { name }).click();
    await page.getByText('script><img src=x onerror="globalThis.hit = 2">').first().waitFor();
    expect(await page.evaluate('[globalThis.hit, document.title]')).toEqual([
      undefined,
      'Sluice inspector',
    ]);
    expect(await page.evaluate('document.querySelectorAll("main script, main img").length')).toBe(
      0,
    );
    await page.close();
  });
});

describe('10,000 dispatches', () => {
  it('are at most 100 rows in the page, and no task takes over 200 ms while one goes back', async () => {
    const journal = memoryJournal({ keepRows: 20_000 });
    const timeline = timelineRecorder();
    timeline.listen(keepTimeline(journal));
    const kernel = createKernel(timeline.kernelOptions());
    const started = { channel: 'console', accountId: 'default', startedAtMs: 0 };
    for (let at = 0; at < 10_000; at++)
      await kernel.dispatch('account.started', started, { eventId: `u-${at}` });
    await using inspector = await startInspector({ name: 'many', reader: journal });
    const page = await openPage(browser, inspector.url);
    await page.getByRole('link', { name: 'All facts' }).click();
    await page.evaluate(
      `globalThis.longest = []; new PerformanceObserver((list) => {
        globalThis.longest.push(...list.getEntries().map(({ duration }) => duration));
      }).observe({ type: 'longtask' })`,
    );
    for (let at = 9_999; at > 9_600; at -= 100) {
      await page.getByText(`u-${at}`, { exact: true }).waitFor();
      expect(await page.locator('.lines li').count()).toBe(100);
      await page.getByRole('button', { name: 'Look further back' }).click();
    }
    const tasks = await page.evaluate('globalThis.longest');
    const long = (tasks as readonly number[]).filter((ms) => ms > 200);
    expect(long.length).toBeLessThan(4); // a browser that gets no processor is slow once, and not each time
    await page.getByRole('button', { name: 'Back to the newest' }).click();
    await page.getByText('u-9999', { exact: true }).waitFor();
    await page.close();
  });
});

describe('the page', () => {
  it('is at most 60 KB over the wire, and asks for nothing but itself', async () => {
    await using inspector = await startInspector({ name: 'small', reader: memoryJournal() });
    const page = await browser.newPage();
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (!request.url().includes('/api/'))
        sizes.push(
          request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize),
        );
    });
    await page.goto(inspector.url);
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    await page.waitForLoadState('load');
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(sizes.length).toBeGreaterThan(10);
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThanOrEqual(60_000);
    await page.close();
  });
});
