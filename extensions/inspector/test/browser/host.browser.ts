import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Command,
  demoFolder,
  expectAccessible,
  openBrowser,
  openPage,
  problems,
  runHost,
} from './lab.js';

let browser: Browser;
let page: Page;
let host: Command;
const folder = demoFolder();

/** The pictures of docs/inspector.md, made anew if a folder for them is named. */
async function picture(name: string, height = 480): Promise<void> {
  const folderOfPictures = process.env['PICTURES'];
  if (folderOfPictures === undefined) return;
  await page.setViewportSize({ width: 900, height });
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: join(folderOfPictures, `inspector-${name}.png`) });
  await page.setViewportSize({ width: 1200, height: 800 });
}

const view = async (name: string): Promise<void> => {
  await page.getByRole('navigation').getByRole('link', { name }).click();
};

/** Searches for words, as a person does. @returns the number of entries that are found. */
async function find(words: string): Promise<number> {
  await view('Messages');
  const box = page.getByRole('searchbox', { name: 'Search' });
  await expect.poll(() => box.inputValue()).toBe('');
  await box.fill(words);
  await page.getByRole('button', { name: 'Find' }).click();
  const status = page.getByRole('status').filter({ hasText: `for ${words}` });
  return Number.parseInt(await status.innerText(), 10);
}

/** Goes to the timeline of the message that a search finds first. It may have to wait for that. */
async function why(words: string): Promise<void> {
  await expect.poll(() => find(words)).toBeGreaterThan(0);
  await page.locator('.lines a').first().click();
  await page.getByRole('heading', { name: 'Why' }).waitFor();
}

const stage = (family: string) =>
  page.locator('.timeline > li').filter({
    has: page.locator('summary .name').getByText(family, { exact: true }),
  });
const idOf = (family: string) => stage(family).locator('.details a.id').first().innerText();

beforeAll(async () => {
  browser = await openBrowser();
  host = runHost(folder.path, '--inspect-write', '--inspect-text');
  host.say('hello');
  await host.until('HELLO');
  page = await openPage(browser, await host.url());
});
afterAll(async () => {
  await browser.close();
  await host[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});
afterEach(() => {
  expect(problems.splice(0)).toEqual([]);
});

describe('the page of a running host', () => {
  const lines = () => page.locator('.lines a');

  it('takes the token out of the address, and lists a message: who, what, where, its end and its time', async () => {
    await lines().first().waitFor();
    await expect.poll(() => lines().count()).toBe(1);
    // its answer can be read before its end is written
    await expect
      .poll(() => lines().first().innerText())
      .toMatch(/Ada\s+hello\s+was answered\s+.* ms, model .* ms\s+post, chat ada · agent main/);
    expect(page.url()).not.toContain('token');
    await expectAccessible(page);
  });

  it('shows new messages as they come, without being asked', async () => {
    host.say('again');
    await expect.poll(() => lines().count()).toBe(2);
    await expect.poll(() => lines().first().innerText()).toMatch(/answered/);
  });

  it('says in words why a message was not answered, and what it waits for', async () => {
    host.say('Grace#ops: a secret');
    await expect
      .poll(() => lines().first().innerText())
      .toMatch(/was stopped by a rule.*demo\/guard: unsafe, 1 cancel/s);
    host.say('Ada: what is the weather?');
    await expect.poll(() => lines().first().innerText()).toMatch(/was answered/);
    host.say('Linus: deploy it');
    await expect
      .poll(() => lines().first().innerText())
      .toMatch(/waits for an owner's approval since \d\d:\d\d/);
    expect(await page.locator('.lines').innerText()).not.toMatch(/given-back|\[""/);
    await expectAccessible(page);
    await picture('messages');
  });

  it('lists every fact when it is asked to, and goes back to the messages', async () => {
    await page.getByRole('link', { name: 'All facts' }).click();
    await lines().filter({ hasText: 'egress.sent' }).first().waitFor();
    await page.getByText(/^\d{2,} facts$/).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Messages alone' }).click();
    await page.getByText('5 messages', { exact: true }).waitFor();
  });

  it('opens with an address that was cut', async () => {
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/#/facts/%E0%A4%A`);
    await page.getByText('0 facts for %E0%A4%A').waitFor();
    await view('Messages');
  });

  it('is an inbox of questions: approve one, and deny one with a reason', async () => {
    await view('Approvals');
    await page.getByRole('heading', { name: 'Send the word deploy?' }).waitFor();
    await page.getByText('pending').waitFor();
    await page.getByText('Linus wrote in post, chat linus, to the agent main').waitFor();
    await page.getByRole('row', { name: 'content DEPLOY IT -- demo' }).waitFor();
    expect(await page.locator('.cards').innerText()).not.toContain('{');
    await expectAccessible(page);
    let release = (): void => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/api/approvals?*', (route) => isReleased.then(() => route.continue()));
    await page.getByRole('button', { name: 'Approve' }).click();
    await host.until('DEPLOY IT');
    await page.getByText('pending').waitFor(); // the list was not read again
    await expect.poll(() => page.getByRole('button', { name: 'Deny' }).count()).toBe(0);
    release();
    await page.getByText('No question is open.').waitFor();
    host.say('deploy twice');
    await page.getByLabel('Reason').fill('not on a Friday');
    await page.getByRole('button', { name: 'Deny' }).click();
    await why('code:approval-denied');
    await page.getByText('denied', { exact: true }).waitFor();
  });

  it('says why: stages, handlers, patches by author, a conflict, a stale approval and an audit', async () => {
    await why('weather');
    const preparing = stage('egress.preparing');
    await preparing.getByRole('row', { name: /demo\/shout mutator patched/ }).waitFor();
    await preparing.getByText('conflict', { exact: true }).waitFor();
    expect(await preparing.locator('.diff').first().innerText()).toMatch(
      /content.*by\s+demo\/shout.*then\s+demo\/sign/s,
    );
    expect(await preparing.locator('ins').first().innerText()).toContain('-- demo');
    await preparing
      .getByText(/demo\/early allowed before demo\/shout, demo\/sign.* changed it/)
      .waitFor();
    await preparing
      .getByText(/demo\/strict.*would/)
      .first()
      .waitFor();
    expect(
      await preparing
        .getByRole('row', { name: /demo\/guard/ })
        .first()
        .innerText(),
    ).toMatch(/of 15\.0 s/);
    await page.getByText('waited for its conversation').first().waitFor();
    await preparing.getByRole('button', { name: 'Payload' }).click();
    await preparing.getByRole('heading', { name: 'Emitted' }).waitFor();
    await expectAccessible(page);
    await picture('why', 700);
  });

  it('shows a cancel in red, with its author, its text and its code', async () => {
    await why('code:unsafe');
    const cancel = stage('egress.preparing').locator('.cancel');
    expect(await cancel.innerText()).toMatch(/cancelled by demo\/guard: unsafe.*it tells a secret/);
    const colorOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).color`);
    expect(await colorOf('.cancel')).not.toBe(await colorOf('body'));
    await expectAccessible(page);
  });

  it('has a link for each event, which opens that event', async () => {
    const id = await idOf('egress.preparing');
    const link = stage('egress.preparing').getByRole('link', { name: id });
    expect(await link.getAttribute('href')).toBe(`#/why/${encodeURIComponent(id)}`);
    await page.goto(`${new URL(page.url()).origin}/#/why/${encodeURIComponent(id)}`);
    const details = stage('egress.preparing').locator('details');
    await expect.poll(() => details.getAttribute('open')).not.toBeNull();
  });

  it('shows what runs and what waits, who holds it and for how long, and stops a turn', async () => {
    host.say('please hold');
    await view('Live');
    await page.getByText(/held by demo\/hold in agent\.prompt\.building for/).waitFor();
    host.say('behind it');
    await page.getByText(/waits for/).waitFor();
    await page.getByRole('img', { name: /^Messages: \d+ in this minute, at most [1-9]/ }).waitFor();
    await page.getByRole('row', { name: /^main .*[1-9] messages/ }).waitFor();
    await page.getByRole('row', { name: /^post .*[1-9] messages/ }).waitFor();
    await page.getByRole('heading', { name: 'post, chat ada' }).waitFor();
    await expectAccessible(page);
    await picture('live', 700);
    await page.getByRole('button', { name: 'Stop the turn' }).click();
    await page.getByRole('button', { name: 'Really stop the turn?' }).click();
    await page.getByText('Nothing runs, and nothing waits.').waitFor();
    await host.until('BEHIND IT');
  });

  it('lists dead letters, shows a body after a click, retries one and purges all that match', async () => {
    host.say('die');
    host.say('die again');
    await page.getByRole('navigation').getByText('2', { exact: true }).waitFor();
    await expect.poll(() => page.title()).toBe('(2) Sluice inspector');
    await view('Dead letters');
    const cards = page.locator('.cards > li');
    await expect.poll(() => cards.count()).toBe(2);
    await cards.first().getByText('the parrot is <b>dead</b>').waitFor();
    await cards.first().getByText('Ada wrote in post, chat ada, to the agent main').waitFor();
    expect(await page.getByText('"die again"').count()).toBe(0);
    await cards.nth(1).getByRole('button', { name: 'Body' }).click();
    await page.getByText('"die again"').waitFor();
    await expectAccessible(page);
    await picture('dead-letters');
    const deathOf = () => cards.locator('time').first().getAttribute('title');
    const first = await deathOf();
    await cards.first().getByRole('button', { name: 'Retry' }).click();
    await page.getByText('2 of 2').waitFor();
    await expect.poll(deathOf).not.toBe(first); // it has died again
    await page.getByText('2 of 2').waitFor();
    await page.getByRole('searchbox').fill('post');
    await page.getByRole('button', { name: 'Purge all 2' }).click();
    await page.getByRole('button', { name: 'Really purge all 2?' }).click();
    await expect.poll(() => cards.count()).toBe(0);
  });

  it('shows the extensions with version, grants, handlers and what the doctor finds; reloads one', async () => {
    await view('Extensions');
    const card = page.locator('.cards > li', { hasText: 'demo' });
    await card.getByText('1.2.3').waitFor();
    await card.getByText('send:pigeon').waitFor();
    const gives = ['channel post', 'command coo', 'tool almanac', 'route /demo/seeds'];
    for (const thing of [...gives, 'agent parrot', 'schedule feed'])
      await card.getByText(thing).waitFor();
    await card
      .getByText(/no answer is shown while it grows: early, shout, guard, human, sign of/)
      .waitFor();
    await card.getByRole('button', { name: 'Show what it hears' }).click();
    await card.getByText(/egress\.preparing: .*veto guard/).waitFor();
    await page.getByText('demo/pigeons', { exact: true }).waitFor();
    await expectAccessible(page);
    await picture('extensions');
    await card.getByRole('button', { name: 'Reload' }).click();
    await card.getByText('reloaded 1 time').waitFor();
  });

  it('draws the pipeline with the handlers in run order, and their matches', async () => {
    await view('Pipeline');
    await page.getByRole('heading', { name: 'egress.preparing' }).waitFor();
    await page.getByRole('checkbox').check();
    const box = page.locator('.stage', {
      has: page.getByRole('heading', { name: 'egress.preparing' }),
    });
    const names = await box.locator('.handlers b').allInnerTexts();
    const order = ['demo/early', 'demo/shout', 'demo/guard', 'demo/human', 'demo/sign'];
    expect(names.filter((name) => order.includes(name))).toEqual(order);
    await page.getByText('if channel is pigeon').waitFor();
    await expectAccessible(page);
  });

  it('tries a dispatch with an edited payload, and the last of a family, on the working copy', async () => {
    await why('weather');
    await stage('egress.preparing').first().getByRole('button', { name: 'Payload' }).click();
    await page.getByRole('link', { name: 'What would differ today?' }).first().click();
    const payload = page.getByLabel('Payload, as it was or edited');
    await expect.poll(() => payload.inputValue()).toContain('"content"');
    await payload.fill(
      (await payload.inputValue()).replace(/"content": "[^"]*"/, '"content": "a secret"'),
    );
    await page.getByRole('button', { name: 'Try this dispatch' }).click();
    await page.getByText(/^was .*, would be cancelled by demo\/guard: unsafe$/).waitFor();
    await expectAccessible(page);
    await picture('differ', 800);

    const copy = join(folder.path, 'demo.mjs');
    writeFileSync(copy, readFileSync(copy, 'utf8').replace('-- demo', '-- changed'));
    await page.getByLabel('How many').fill('2');
    await page.getByRole('button', { name: 'Try them' }).click();
    await page.getByText(/^2 tried, [12] would differ$/).waitFor();
    await page
      .getByText(/would be ".*-- changed"/)
      .first()
      .waitFor();
  });

  it('finds messages by id, family, extension, code, session, name and text, and their facts', async () => {
    await why('code:unsafe');
    const id = await idOf('egress.preparing');
    expect(await find(id)).toBe(1);
    expect(await find('extension:demo family:egress.preparing')).toBeGreaterThan(3);
    expect(await find('kind:send status:sent')).toBeGreaterThan(3);
    expect(await find('session:post')).toBeGreaterThan(3);
    expect(await find('Grace secret')).toBe(1);
    expect(await find('text:almanac')).toBe(1);
    expect(await find('family:no.such')).toBe(0);
    expect(await find('weather')).toBe(1);
    await page.getByRole('link', { name: 'Facts that fit' }).click();
    await page.getByText(/^\d+ facts for weather$/).waitFor();
  });

  it('is used by keyboard alone, on a narrow screen, at a zoom of 200 % and in the dark', async () => {
    await view('Messages');
    await expect.poll(() => page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe('');
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('search');
    await page.locator('.lines a').nth(1).waitFor();
    const isSecond = () =>
      page.evaluate('document.activeElement === document.querySelectorAll(".lines a")[1]');
    for (let tabs = 0; tabs < 6 && !(await isSecond()); tabs++) await page.keyboard.press('Tab');
    expect(await isSecond()).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Why' }).waitFor();
    const views = [
      'Messages',
      'Live',
      'Dead letters',
      'Approvals',
      'Extensions',
      'Pipeline',
      'What would differ',
    ];
    // a phone, and a window of 1280 pixels at a zoom of 200 %
    for (const width of [380, 640]) {
      await page.setViewportSize({ width, height: 700 });
      await page.emulateMedia({ colorScheme: width === 380 ? 'dark' : 'light' });
      for (const name of views) {
        await view(name);
        await page.getByRole('heading', { name, level: 1 }).waitFor();
        await expectAccessible(page);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          width,
        );
      }
      await why('weather');
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        width,
      );
    }
  });
});
