import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { memoryJournal } from 'sluice/host';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Inspector, startInspector } from '../../src/index.js';
import { partsOf } from '../ask.js';
import { expectAccessible, openBrowser, openPage, problems } from './lab.js';

let browser: Browser;
let first: Inspector;
let second: Inspector;
beforeAll(async () => {
  browser = await openBrowser();
  first = await startInspector({ name: 'the first', reader: memoryJournal() });
  second = await startInspector({ name: 'the second', reader: memoryJournal() });
});
afterAll(async () => {
  await browser.close();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});
afterEach(() => {
  expect(problems.splice(0)).toEqual([]);
});

/** A proxy that takes the prefixes of two inspectors away. */
async function proxy() {
  const server = createServer((asked, response) => {
    const [, prefix = '', path = '/'] = /^(\/[ab])(\/.*)$/.exec(asked.url ?? '') ?? [];
    const inspector = prefix === '/a' ? first : second;
    const { method, headers } = asked;
    const passed = request(`${partsOf(inspector).origin}${path}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on('close', () => passed.destroy());
    passed.on('error', () => response.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens at a port
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

it('the address logs a browser in once: another page of it needs no token, and a logout ends both', async () => {
  const { origin } = partsOf(first);
  await using context = await browser.newContext();
  const page = await openPage(context, first.url);
  await page.getByText('the first · read-only · connected').waitFor();
  expect(page.url()).toBe(`${origin}/#/messages`);
  const other = await openPage(context, origin);
  await other.getByText('the first · read-only · connected').waitFor();
  expect(await other.evaluate('document.cookie')).toBe('');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token or address').waitFor();
  await other.getByLabel('Token or address').waitFor();
  problems.splice(0); // the browser tells of the refusals
});

it('a wrong token opens nothing, the page says so, and the right one opens it', async () => {
  const { origin, token } = partsOf(first);
  await using context = await browser.newContext();
  const page = await openPage(context, `${origin}/#token=wrong`);
  await page.getByLabel('Token or address').fill('wrong, too');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('the token is missing or wrong').waitFor();
  await expectAccessible(page);
  problems.splice(0); // the browser tells of the refusals
  await page.getByLabel('Token or address').fill(token);
  await page.keyboard.press('Enter');
  await page.getByText('the first · read-only · connected').waitFor();
  const other = await openPage(context, `${origin}/#token=wrong`); // any site may lead here
  await other.getByText('the first · read-only · connected').waitFor();
  problems.splice(0);
});

it('behind a proxy that takes a path away two inspectors of one name work side by side', async () => {
  using made = await proxy();
  await using context = await browser.newContext();
  const open = async (prefix: string, { url }: Inspector) =>
    openPage(context, `${made.origin}${prefix}/${new URL(url).hash}`);
  const one = await open('/a', first);
  await one.getByText('the first · read-only · connected').waitFor();
  const other = await open('/b', second);
  await other.getByText('the second · read-only · connected').waitFor();
  await one.reload();
  await one.getByText('the first · read-only · connected').waitFor();
  const cookies = await context.cookies([`${made.origin}/a/api/about`, `${made.origin}/b/api/x`]);
  expect(cookies.map(({ path, httpOnly, sameSite }) => [path, httpOnly, sameSite])).toEqual([
    ['/a/api', true, 'Strict'],
    ['/b/api', true, 'Strict'],
  ]);
});
