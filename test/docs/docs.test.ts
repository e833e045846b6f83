import { createHmac } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import shout from '../../docs/examples/shout.js';
import { defineExtension } from '../../src/index.js';
import {
  agentConformance,
  channelConformance,
  commandContext,
  expectCancelled,
  expectPassed,
  loadForTest,
  startTestHost,
} from '../../src/testing/index.js';
import { readProjectFile, root } from '../support/source-tree.js';
import { loopbackServer } from './loopback-server.js';
import { anchorsOf, codeBlocks, inlineCodeOf, linksOf, proseOf, riddles } from './pages.js';

const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)];
/** The pages with examples that are compiled. */
const shownIn = [...pages, 'src/kernel/README.md'];
const readmes = [
  'src/kernel/README.md',
  ...readdirSync(join(root, 'extensions')).map((name) => `extensions/${name}/README.md`),
];
const specs = readdirSync(join(root, 'spec')).filter((name) => name.endsWith('.md'));
const examples = readdirSync(join(root, 'docs/examples'));
const exampleText = new Map(
  examples.map((name) => [name, unindented(readProjectFile(`docs/examples/${name}`))]),
);

/** Returns whether the counts of a page are figures: it is generated, or says how they were measured. */
function isMeasured(page: string): boolean {
  const text = readProjectFile(page);
  return text.startsWith('<!-- Generated') || page === 'docs/performance.md';
}

/** Text without the spaces that begin its lines: a page shows a part of a function as if it stood alone. */
function unindented(text: string): string {
  return text.replace(/^[ \t]+/gm, '');
}

const hmacOf = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

describe('the pages', () => {
  it('begin with a README of at most 8 KB', () => {
    expect(Buffer.byteLength(readProjectFile('README.md'))).toBeLessThanOrEqual(8_192);
  });

  it.each(shownIn)('show in %s only code of docs/examples, which is compiled', (page) => {
    const unknown = codeBlocks(readProjectFile(page), 'ts').filter(
      ({ code }) => ![...exampleText.values()].some((text) => text.includes(unindented(code))),
    );
    expect(unknown).toEqual([]);
  });

  it.each(examples)(
    'say in %s if a handler of egress.preparing may see parts of a reply (§14.7)',
    (name) => {
      const text = readProjectFile(`docs/examples/${name}`);
      const handlers = /api\.(?:mutate|veto)\(\s*'egress\.preparing'/.test(text);
      expect(handlers && !text.includes("preview: 'ok'")).toBe(false);
    },
  );

  it.each(examples)('show the example %s', (name) => {
    const text = exampleText.get(name) ?? '';
    const shown = shownIn.some((page) =>
      codeBlocks(readProjectFile(page), 'ts').some(({ code }) => text.includes(unindented(code))),
    );
    expect(shown).toBe(true);
  });

  it.each([...pages, ...specs.map((name) => `spec/${name}`)])(
    'link in %s to what is there',
    (page) => {
      const dead = linksOf(readProjectFile(page)).filter((link) => {
        if (/^[a-z]+:/.test(link)) return false;
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? page : normalize(join(dirname(page), path));
        if (!existsSync(join(root, target))) return true;
        return anchor !== undefined && !anchorsOf(readProjectFile(target)).includes(anchor);
      });
      expect(dead).toEqual([]);
    },
  );

  it.each([...pages, ...specs.map((name) => `spec/${name}`)])(
    'name in %s no file of the source that is not there',
    (page) => {
      const paths = inlineCodeOf(readProjectFile(page)).filter((code) =>
        /^(?:src|test|extensions|docs|spec)\/[\w./-]*$/.test(code),
      );
      expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    },
  );

  it.each([...pages, ...specs.map((name) => `spec/${name}`)].filter((page) => !isMeasured(page)))(
    'count in %s nothing that another change makes more or fewer',
    (page) => {
      const counted =
        /(?:\d{2,}|\b(?:five|ten|eleven|twelve|[a-z]+teen)) (?:stages|families|hooks|(?:error )?codes|packages|clauses|commands|rooms|classes|recipes)\b/gi;
      expect(proseOf(readProjectFile(page)).match(counted) ?? []).toEqual([]);
    },
  );

  it('name a file for each word of the glossary', () => {
    const rows = readProjectFile('docs/glossary.md')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| word '));
    expect(rows.filter((row) => !/`(?:src|test|extensions|spec)\/[^`]+`/.test(row))).toEqual([]);
  });

  it.each([...pages, ...readmes])(
    'begin in %s no sentence with What, Whose, Where, Whether or Who',
    (page) => {
      expect(riddles(proseOf(readProjectFile(page)))).toEqual([]);
    },
  );

  it.each([...pages, ...readmes])('have in %s lines of at most 120 columns', (page) => {
    const prose = readProjectFile(page).replaceAll(/^```[\s\S]*?^```/gm, '');
    const long = prose.split('\n').filter((line) => line.length > 120 && !line.startsWith('|'));
    expect(long).toEqual([]);
  });

  it('tell the limits that matter most in the README', () => {
    const readme = readProjectFile('README.md');
    for (const limit of ['not preempted', 'no sandbox', 'in memory', 'A timeout ends the wait'])
      expect(readme).toContain(limit);
  });
});

describe('the rule against riddles', () => {
  it.each([
    'What it does is unknown.',
    'It ends. Where it began is lost.',
    '- Whose it is.',
    'Who asks, waits.',
  ])('finds one in: %s', (text) => {
    expect(riddles(text)).toHaveLength(1);
  });

  it.each(['It says what it does.', 'It ends where it began.'])('finds none in: %s', (text) => {
    expect(riddles(text)).toEqual([]);
  });
});

describe('the example shout', () => {
  it('is complete in twenty lines', () => {
    const lines = readProjectFile('docs/examples/shout.ts').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(22);
  });

  it('does what the README says', async () => {
    await using loaded = await loadForTest(shout, { config: { maxLength: 5 } });
    const passed = expectPassed(
      await loaded.dispatch('egress.preparing', { content: 'hello', explicit: true }),
    );
    expect(passed.payload.content).toBe('HELLO');
    expectCancelled(
      await loaded.dispatch('egress.preparing', { content: 'hello there', explicit: true }),
      { code: 'policy', by: 'shout/length' },
    );
  });
});

describe('the other examples', () => {
  it('run: the test of shout passes', async () => {
    await import('../../docs/examples/shout-test.js');
  });

  it('run: the test of the limiter passes', async () => {
    await import('../../docs/examples/limiter-test.js');
  });

  it('run: the test of a memory finds what the handler has kept', async () => {
    await import('../../docs/examples/remember-test.js');
  });

  it('run: the test of a schedule makes it due', async () => {
    await import('../../docs/examples/report-test.js');
  });

  it('run: the test of a restart finds the reminder', async () => {
    await import('../../docs/examples/restart-test.js');
  });

  it('run: the test of a scrub finds no mail address in the journal', async () => {
    await import('../../docs/examples/scrub-test.js');
  });

  it('run: the test of a tool that asks presses Allow and Deny', async () => {
    await import('../../docs/examples/pay-test.js');
  });

  it('run: the exporter of metrics tells what the host has done', async () => {
    const { default: exporter } = await import('../../docs/examples/exporter.js');
    const breaks = defineExtension({
      id: 'breaks',
      setup: (api) =>
        api.observe('egress.sent', 'x', () => {
          throw new Error('no luck');
        }),
    });
    const grants = { exporter: ['tap', 'provide:route'] };
    await using test = await startTestHost({ extensions: [exporter, breaks], grants });
    await test.say('hello');
    const answer = await test.host.routes.answer(new Request('http://localhost/metrics'));
    expect(answer.headers.get('content-type')).toContain('text/plain');
    const lines = (await answer.text()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'sluice_up 1',
        'sluice_updates_total 1',
        'sluice_sends_total{end="sent"} 1',
        'sluice_updates{state="dead"} 0',
        'sluice_failures_total{family="egress.sent",extension="breaks",kind="threw"} 1',
        '',
      ]),
    );
    const isLine = /^[a-z_]+(\{[a-z]+="[\w.-]+"(,[a-z]+="[\w.-]+")*\})? \d+$/;
    expect(lines.slice(0, -1).filter((line) => !isLine.test(line))).toEqual([]);
  });

  it('run: the fakes of the kit pass its checks of conformance', async () => {
    await import('../../docs/examples/conformance-test.js');
  });

  it('run: an agent whose answer grows and who runs tools passes the checks of conformance', async () => {
    const { growing: provider } = await import('../../docs/examples/growing.js');
    const grown = agentConformance(() => ({ provider, text: 'one two', tool: 'throw it' }));
    for (const { run } of grown) await run();
    await using test = await startTestHost({ agents: [{ id: 'main', provider }] });
    await test.say('throw it');
    expect(test.replies()).toEqual([expect.stringMatching(/^The tool says: a [1-6]$/)]);
  });

  it('run: a channel that takes messages in by a route passes all checks of conformance', async () => {
    const { hook, default: extension } = await import('../../docs/examples/hook.js');
    const secret = 'sixteen characters';
    const post = (body: string, signature = hmacOf(secret, body)): Request => {
      const headers = { 'x-signature': signature };
      return new Request('http://localhost/hooks/hook', { method: 'POST', headers, body });
    };
    const updateOf = (text: string, id: string): string =>
      JSON.stringify({ id, room: 'kitchen', user: 'ada', text });
    const failures = { ambiguous: 500, rejected: 400, 'retry-after': 429 } as const;
    const begin = async () => {
      const shown = new Map<unknown, string>();
      const answers: number[] = [];
      const receiver = await loopbackServer(({ headers, body }) => {
        const status = answers.shift() ?? 200;
        if (status === 200) shown.set(headers['idempotency-key'], String(body['text']));
        return { status };
      });
      return { shown, answers, receiver };
    };
    const checks = channelConformance(
      async () => {
        const { shown, answers, receiver } = await begin();
        const [channel, { handler }] = hook({ secret, replyTo: receiver.url });
        return {
          channel,
          to: 'kitchen',
          deliver: (text, id) => handler(post(updateOf(text, id))),
          shown: () => [...shown.values()],
          failNext: (how) => void answers.push(failures[how]),
          [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
        };
      },
      { complete: true },
    );
    for (const { run } of checks) await run();

    const { shown, receiver } = await begin();
    await using _ = receiver;
    const config = { secret, replyTo: receiver.url };
    await using test = await startTestHost({ extensions: [{ extension, config }] });
    const { routes } = test.host;
    expect((await routes.answer(post(updateOf('hello', '1'), 'none'))).status).toBe(401);
    expect((await routes.answer(post('{}'))).status).toBe(400);
    expect((await routes.answer(post(updateOf('hello', '1')))).status).toBe(202);
    await expect.poll(() => [...shown.values()]).toEqual(['hello']);
  });

  it('run: a command gets its arguments', async () => {
    const { default: ping } = await import('../../docs/examples/ping.js');
    await using loaded = await loadForTest(ping);
    const [command] = loaded.provided('command');
    expect(await command?.run(commandContext({ args: ['tea'] }))).toBe('pong tea');
  });

  it('run: the kernel alone tells the change of its handler', async () => {
    const { changes } = await import('../../docs/examples/kernel-alone.js');
    expect(changes).toMatchObject([
      { path: 'content', extensionId: 'acme', contributionId: 'sign' },
    ]);
  });

  it('run: a kernel with a stage of its own says who cancelled', async () => {
    const { lines } = await import('../../docs/examples/kernel-own.js');
    expect(lines[0]?.words).toBe('acme.bill.checking cancelled by acme/limit: over-budget');
  });

  it('run: a judge refuses a call of a tool, or asks a human (judgement §4.3, §4.5)', async () => {
    const { judge } = await import('../../docs/examples/kernel-ask.js');
    const asked: string[] = [];
    const call = async (command: string, isAllowed: boolean): Promise<string> => {
      const answer = async (title: string) => asked.push(title) > 0 && isAllowed;
      return (await judge({ toolName: 'shell', params: { command } }, answer)).status;
    };
    expect(await call('ls', true)).toBe('passed');
    expect(await call('ls', false)).toBe('cancelled');
    expect(await call('rm -rf /', true)).toBe('cancelled');
    expect(asked).toEqual(['Run this command?', 'Run this command?']);
    const thrown = judge({ toolName: 'shell', params: {} }, () =>
      Promise.reject(new Error('later')),
    );
    await expect(thrown).rejects.toThrow('later');
  });

  it('run: acme signs a message, and cancels one with a secret', async () => {
    const { default: acme } = await import('../../docs/examples/acme.js');
    await using loaded = await loadForTest(acme);
    const send = (content: string) =>
      loaded.dispatch('egress.preparing', { content, explicit: true });
    expect(expectPassed(await send('hello')).payload.content).toBe('hello\n-- Acme');
    expectCancelled(await send('a secret'), { code: 'policy', by: 'acme/no-secrets' });
  });
});
