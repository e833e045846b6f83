import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { ask, cancel, defineExtension } from 'sluice';
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

  it('stops the turn of the model that was asked, also if another one is chosen (http §7.3)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    await using lab = await httpLab(
      { models: { slow: { agent: 'slow' }, quick: { agent: 'quick' } } },
      {
        agents: [
          { id: 'slow', provider: agent.provider },
          { id: 'quick', provider: scriptedAgent([]) },
        ],
      },
    );
    const { page, shown } = await say(lab, 'count');
    await agent.begun;
    await page.getByLabel('Model').selectOption('quick');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => shown('error').textContent()).toBe('Stopped.');
    await expect.poll(() => agent.isStopped()).toBe(true);
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

  it('shows Markdown, as elements that no text of an agent can make for itself (http §7.1, http §7.2)', async () => {
    const answer = [
      '# Tea\n\nA *good* **cup**, ~~cold~~, see [the leaf](https://leaf.example/a "t") or https://tea.example.',
      '1. one\n2. two\n\n- [ ] task\n\n| a | b |\n|---|---|\n| 1 | <b>2</b> |',
      '```js\nlet cup = "<i>";\n```\n\n> said\n\n![pot](https://pot.example/x.png)',
      '[bad](javascript:alert(1)) [worse](data:text/html,x) <a href="//evil.example" onclick="x()">raw</a>',
      '[ref]: https://ref.example\n\nlast [ref]',
    ].join('\n\n');
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: scriptedAgent([[answer]]) }] },
    );
    const { page, shown } = await say(lab, 'tea?');
    const told = shown('agent');
    await told.getByRole('link', { name: 'ref' }).waitFor();
    const at = (css: string) => told.locator(css).allTextContents();
    expect([await at('h1'), await at('em'), await at('strong'), await at('s')]).toEqual([
      ...[['Tea'], ['good'], ['cup'], ['cold']],
    ]);
    expect([await at('ol li'), await at('td'), await at('blockquote')]).toEqual([
      ...[['one', 'two'], ['1', '<b>2</b>'], ['said']],
    ]);
    expect(await at('pre')).toEqual(['let cup = "<i>";\n']);
    const links = await page.evaluate(
      `[...document.querySelectorAll('article.agent a')].map((one) => one.href)`,
    );
    expect(links).toEqual([
      ...['https://leaf.example/a', 'https://tea.example/', 'https://pot.example/x.png'],
      'https://ref.example/',
    ]);
    expect(await told.locator('img, script, b, [onclick], [style]').count()).toBe(0);
    expect(await told.textContent()).toContain('<a href="//evil.example" onclick="x()">raw</a>');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await told.getByRole('button', { name: 'Copy' }).click();
    await told.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('let cup = "<i>";\n');
    await expectAccessible(page);
    await page.close();
  });

  it('has the same elements whether an answer grew or came at once (http §7.2)', async () => {
    const text =
      '# A\n\none [late]\n\n- x\n- y\n\n```\n\ncode\n\n```\n\n> q\n\nend\n\n[late]: https://l.example';
    const words = text.match(/[\s\S]{1,3}/g) ?? [];
    const agent = steppedAgent(words);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const { page, shown } = await say(lab, 'grow');
    await agent.begun;
    const stepping = setInterval(agent.step, 1);
    await shown('agent').getByRole('link', { name: 'late' }).waitFor();
    clearInterval(stepping);
    const grown = await shown('agent').locator('.text').innerHTML();
    await page.reload();
    await shown('agent').getByRole('link', { name: 'late' }).waitFor();
    expect(await shown('agent').locator('.text').innerHTML()).toBe(grown);
    await page.close();
  });

  it('has its conversation again after a reload, and reads an answer that went on to its end (http §7.3)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const { page, shown } = await say(lab, 'count');
    await agent.begun;
    await page.getByText('Working').waitFor();
    agent.step();
    await expect.poll(() => shown('agent').textContent()).toBe('One');
    await page.reload();
    await expect.poll(() => shown('agent').textContent()).toBe('One');
    agent.step();
    await expect.poll(() => shown('agent').textContent()).toBe('One two.');
    expect(agent.isStopped()).toBe(false);
    await expect.poll(() => page.getByText('Working').count()).toBe(0);
    await page.reload();
    await expect.poll(() => shown('agent').allTextContents()).toEqual(['One two.']);
    expect(await shown('you').allTextContents()).toEqual(['count']);
    expect(lab.test.of('routing.resolving')).toHaveLength(1);
    expect(await page.evaluate('document.activeElement.id')).toBe('text');
    await page.close();
  });

  /** An extension that asks before each tool call, and an agent that calls one. */
  const asker = (of: 'principal' | 'owner') =>
    defineExtension({
      id: 'asker',
      setup: (api) =>
        api.veto('agent.tool.calling', 'ask', { failClosed: true }, () =>
          ask({ title: 'Brew it?', of }),
        ),
    });
  const asking = (of: 'principal' | 'owner', args = {}) => ({
    agents: [
      {
        id: 'main',
        provider: scriptedAgent([[{ tool: 'Brew', args, result: 'done' }, 'It is done.']]),
      },
    ],
    extensions: [asker(of)],
  });

  it('shows a question with its buttons, and the press of one answers it (http §7.4)', async () => {
    const sha256 = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'; // of "secret"
    await using lab = await httpLab({ keys: [{ name: 'ada', sha256 }] }, asking('principal'));
    const page = await openPage(browser, lab.url);
    await page.getByLabel('Key').fill('secret');
    await page.getByLabel('Key').press('Enter');
    await expect.poll(() => page.getByLabel('Model').textContent()).toBe('sluice');
    expect(await page.getByRole('note').count()).toBe(0);
    await page.getByLabel('Message').fill('tea');
    await page.getByLabel('Message').press('Enter');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await expect.poll(() => page.locator('article.agent').textContent()).toContain('It is done.');
    expect(await page.getByRole('group', { name: 'Answers' }).count()).toBe(0);
    problems.splice(0); // the browser tells of the 401 that asked for the key
    await page.close();
  });

  it('shows each character of what is approved, whatever an agent has written (http §8.1)', async () => {
    const command = "echo '[hi](<https://a.example';rm -rf ~;echo '>)' **/* &#x72; ```\n```";
    await using lab = await httpLab({}, asking('owner', { command }));
    const { page, shown } = await say(lab, 'tea');
    await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
    expect(await shown('agent').locator('pre').textContent()).toContain(
      `command: ${command.replaceAll('\n', '\\n')}`,
    );
    expect(await shown('agent').locator('a').count()).toBe(0);
    const hidden = `[...document.querySelectorAll('pre')].some((one) => one.scrollWidth > one.clientWidth)`;
    expect(await page.evaluate(hidden)).toBe(false);
    await page.close();
  });

  it('says that nobody is proven without a key, and refuses an answer to an approval at once (http §7.4)', async () => {
    await using lab = await httpLab({}, asking('owner'));
    const { page, shown } = await say(lab, 'tea');
    await page.getByRole('note').getByText('nobody is proven').waitFor();
    await page.getByRole('button', { name: 'Allow', exact: true }).press('Enter');
    await expect.poll(() => shown('agent').textContent()).toContain('has not proven who you are');
    await page.close();
  });

  it('has an answer after a reload for which the key has to be given again (http §7.3)', async () => {
    const sha256 = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'; // of "secret"
    const agent = steppedAgent(['One ', 'two.']);
    await using lab = await httpLab(
      { keys: [{ name: 'ada', sha256 }] },
      { agents: [{ id: 'main', provider: agent.provider }] },
    );
    const page = await openPage(browser, lab.url);
    const giveKey = async () => {
      await page.getByLabel('Key').fill('secret');
      await page.getByLabel('Key').press('Enter');
      await expect.poll(() => page.getByLabel('Model').textContent()).toBe('sluice');
    };
    await giveKey();
    await page.getByLabel('Message').fill('count');
    await page.getByLabel('Message').press('Enter');
    await agent.begun;
    await page.reload();
    await page.getByRole('button', { name: 'Ask again' }).waitFor();
    await page.reload(); // nothing of a missing key is the end of a message
    await page.getByRole('button', { name: 'Ask again' }).waitFor();
    await giveKey();
    const stepping = setInterval(agent.step, 1);
    await expect.poll(() => page.locator('article.agent').allTextContents()).toEqual(['One two.']);
    clearInterval(stepping);
    expect(lab.test.of('routing.resolving')).toHaveLength(1);
    problems.splice(0); // the browser tells of the 401 that asked for the key
    await page.close();
  });

  it('says in words that its host is away, and asks for the answer again under its key (http §7.3, http §7.5)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const page = await openPage(browser, lab.url);
    await page.getByText('Write a message').waitFor();
    await expect.poll(() => page.getByLabel('Model').textContent()).toBe('sluice');
    const completions = '**/v1/chat/completions';
    await page.route(completions, async (route) => {
      await route.fetch({ timeout: 300 }).catch(() => undefined); // the host takes it, and its answer is lost
      await route.abort('connectionreset');
    });
    await page.getByLabel('Message').fill('hello');
    await page.keyboard.press('Enter');
    await page.getByText('cannot be reached').waitFor();
    await page.unroute(completions);
    await page.getByRole('button', { name: 'Ask again' }).click();
    const stepping = setInterval(agent.step, 1);
    await expect.poll(() => page.locator('article.agent').allTextContents()).toEqual(['One two.']);
    clearInterval(stepping);
    expect(await page.locator('article.error').count()).toBe(0);
    expect(lab.test.of('routing.resolving')).toHaveLength(1);
    problems.splice(0); // the browser tells of the lost connection
    await page.close();
  });

  it('reads the whole of an answer that is another in the end (http §3.3, http §7.3)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    const changer = defineExtension({
      id: 'changer',
      setup: (api) =>
        api.mutate('egress.preparing', 'other', { preview: 'ok' }, ({ payload }) =>
          payload.streaming ? undefined : { content: 'Three.' },
        ),
    });
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: agent.provider }], extensions: [changer] },
    );
    const { page, shown } = await say(lab, 'count');
    await agent.begun;
    agent.step();
    await expect.poll(() => shown('agent').textContent()).toBe('One');
    agent.step();
    await page.getByText('what was shown is not the answer').waitFor();
    await page.getByRole('button', { name: 'Ask again' }).click();
    await expect.poll(() => shown('agent').allTextContents()).toEqual(['Three.']);
    await page.close();
  });

  it.each([
    ['on a phone', { viewport: { width: 360, height: 640 } }],
    ['in the dark', { colorScheme: 'dark' as const }],
    ['at a zoom of 200 %', { viewport: { width: 640, height: 400 } }],
  ])('can be used %s: nothing is cut off, and axe finds nothing (http §7.5)', async (_, how) => {
    const answer = `| a | b |\n|---|---|\n| ${'wide '.repeat(60)} | x |\n\n\`\`\`\n${'long '.repeat(60)}\n\`\`\``;
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: scriptedAgent([[answer]]) }] },
    );
    const context = await browser.newContext(how);
    const page = await context.newPage();
    await page.goto(lab.url);
    await page.keyboard.type(`hi ${'x'.repeat(200)}`); // the box has the focus
    await page.keyboard.press('Enter');
    await page.locator('article.agent pre').waitFor();
    const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(wide)).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    await context.close();
  });

  it('is at most 60 KB, and no script stands in its text (http §7.1)', async () => {
    const built = fileURLToPath(new URL('../../extensions/http/dist/page/', import.meta.url));
    const packed = readdirSync(built)
      .filter((name) => !name.endsWith('.txt'))
      .map((name) => gzipSync(readFileSync(join(built, name))).length);
    expect(packed.reduce((sum, one) => sum + one, 0)).toBeLessThan(60_000);
    await using lab = await httpLab();
    const answer = await fetch(lab.url);
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toContain("script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(await answer.text()).not.toMatch(/<script>|<style| on[a-z]+=|style=/);
  });
});
