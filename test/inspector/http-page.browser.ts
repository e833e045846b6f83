import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { cancel, defineExtension } from 'sluice';
import { scriptedAgent } from 'sluice/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type HttpLab, httpLab, steppedAgent } from '../../extensions/http/test/http-lab.js';
import {
  Command,
  expectAccessible,
  openBrowser,
  openPage,
  problems,
} from '../../extensions/inspector/test/browser/lab.js';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
afterEach(() => expect(problems.splice(0)).toEqual([]));

/** Opens the page, and says something. */
async function say({ url }: Pick<HttpLab, 'url'>, text: string) {
  const page = await openPage(browser, url);
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
  const shown = (kind: string) => page.locator(`article.${kind}`);
  return { page, shown };
}

describe('the chat page', () => {
  it('of `sluice run --channel http` answers a person, and needs nothing else (http §7.1)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-http-page-'));
    try {
      await using command = new Command(folder, ['run', '--channel', 'http', '--http-port', '0']);
      await command.until('open http://');
      await command.until(' in a browser');
      const { page, shown } = await say({ url: command.said(/open (\S+) in/) }, 'hello there');
      await expect.poll(() => shown('agent').allTextContents()).toEqual(['hello there']);
      await page.getByLabel('Message').fill('again');
      await page.getByLabel('Message').press('Enter');
      await expect.poll(() => shown('agent').allTextContents()).toEqual(['hello there', 'again']);
      expect(await shown('you').allTextContents()).toEqual(['hello there', 'again']);
      await expectAccessible(page);
      await page.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('shows an answer while it grows, and stops it (http §7.1)', async () => {
    const agent = steppedAgent(['One ', 'two ', 'three.']);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const { page, shown } = await say(lab, 'count');
    await agent.begun;
    agent.step();
    await expect.poll(() => shown('agent').textContent()).toBe('One');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => shown('error').textContent()).toBe('Stopped.');
    await expect.poll(() => agent.isStopped()).toBe(true);
    expect(await shown('agent').textContent()).toBe('One'); // as in the transcript
    await page.close();
  });

  it('follows an answer that is longer than the window (http §7.1)', async () => {
    const agent = steppedAgent(['One.\n'.repeat(200), 'Two.']);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const { page, shown } = await say(lab, 'count');
    await agent.begun;
    const stepping = setInterval(agent.step, 1);
    await expect.poll(() => shown('agent').textContent()).toContain('Two.');
    clearInterval(stepping);
    const below = 'log.scrollHeight - log.scrollTop - log.clientHeight'; // `log` is the element of this id
    await expect.poll(() => page.evaluate(below)).toBeLessThan(2);
    await page.close();
  });

  it('takes nothing of an answer into another chat (http §7.1)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    await using lab = await httpLab(
      { maxBodyBytes: 1_024 },
      { agents: [{ id: 'main', provider: agent.provider }] },
    );
    const { page, shown } = await say(lab, 'count');
    await agent.begun;
    agent.step();
    await expect.poll(() => shown('agent').textContent()).toBe('One');
    await page.getByRole('button', { name: 'New chat' }).click();
    await expect.poll(() => agent.isStopped()).toBe(true);
    await page.getByLabel('Message').fill('x'.repeat(2_000));
    await page.getByLabel('Message').press('Enter');
    await expect
      .poll(() => shown('error').allTextContents())
      .toEqual(['a body may have 1024 bytes']);
    expect(await shown('agent').count()).toBe(0);
    problems.splice(0); // the browser tells of the 413
    await page.close();
  });

  it('shows text as text, whatever an agent says (http §7.1)', async () => {
    const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const agent = scriptedAgent([[evil]]);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent }] });
    const { page, shown } = await say(lab, evil);
    await expect.poll(() => shown('agent').textContent()).toBe(evil);
    expect(await page.title()).toBe('Sluice');
    expect(await page.locator('img, article script').count()).toBe(0);
    await page.close();
  });

  it('tells of a cancel with its code, and drops what was shown (http §4.2)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    const guard = defineExtension({
      id: 'guard',
      setup: (api) =>
        api.veto('egress.preparing', 'no', { preview: 'ok' }, ({ payload }) =>
          payload.streaming ? undefined : cancel('unsafe'),
        ),
    });
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: agent.provider }], extensions: [guard] },
    );
    const { page, shown } = await say(lab, 'count');
    await agent.begun;
    agent.step();
    await expect.poll(() => shown('agent').textContent()).toBe('One');
    agent.step();
    await expect.poll(() => shown('error').textContent()).toMatch(/cancelled.*\(unsafe, u-/);
    expect(await shown('agent').count()).toBe(0);
    await page.close();
  });

  it('asks for the key if there is one, and begins another conversation (http §1.3, http §2.3)', async () => {
    const sha256 = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'; // of "secret"
    await using lab = await httpLab({ keys: [{ name: 'ada', sha256 }] });
    const page = await openPage(browser, lab.url);
    await page.getByLabel('Key').fill('secret');
    await page.getByLabel('Key').press('Enter');
    await expect.poll(() => page.getByLabel('Model').textContent()).toBe('sluice');
    const say = async (text: string): Promise<void> => {
      await page.getByLabel('Message').fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
      await expect.poll(() => page.locator('article.agent').last().textContent()).toBe(text);
    };
    await say('one');
    await say('two');
    await page.getByRole('button', { name: 'New chat' }).click();
    await say('three');
    const ids = lab.test
      .of('routing.resolving')
      .map(({ payload }) => payload.message.conversationId);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
    problems.splice(0); // the browser tells of the 401 that asked for the key
    await page.close();
  });
});
