import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import type { AgentProvider } from 'sluice/stream';
import { scriptedAgent } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { errorOf, type HttpLab, httpLab, saying, textOf } from './http-lab.js';

const secret = 'a secret of some length';
const names = ['ada', 'bob', 'webui'];
const keys = names.map((name) => ({
  ...{ name, sha256: createHash('sha256').update(`key of ${name}`).digest('hex') },
  frontEnd: name === 'webui',
}));
const hook = (agent: string) => ({ secret, text: '{/text}', conversation: '{/in}', agent });

/** An agent whose turns never end by themselves. */
const hung: AgentProvider = {
  ...{ id: 'hung', models: ['hung'], toolGate: 'enforce' },
  async *run({ signal }) {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  },
};

const labOf = (): Promise<HttpLab> =>
  httpLab(
    {
      ...{ keys, webhooks: { one: hook('hung'), two: hook('quick') } },
      models: { hung: { agent: 'hung' }, sluice: { agent: 'quick' } },
    },
    {
      agents: [
        { id: 'hung', provider: hung, timeoutMs: false },
        { id: 'quick', provider: scriptedAgent(Array.from({ length: 9 }, () => ['done'])) },
      ],
    },
  );

const by = (name: string) => ({ authorization: `Bearer key of ${name}` });

async function deliver(lab: HttpLab, name: string, given: object): Promise<Response> {
  const body = JSON.stringify(given);
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'x-hub-signature-256': `sha256=${digest}` };
  return fetch(`${lab.url}/hooks/${name}`, { method: 'POST', body, headers });
}

/** The things that one may do, each so often. Each resolves when the host has it, or has refused it. */
const misdeeds = {
  'a key whose requests hang': (lab: HttpLab, at: number) =>
    lab.ask(saying(`ada ${at}`, { model: 'hung' }), by('ada')),
  'a key that reads none of its streams': (lab: HttpLab, at: number) =>
    lab.ask(saying(`ada ${at}`, { model: 'hung', stream: true }), by('ada')),
  'a person of a front end whose requests hang': (lab: HttpLab, at: number) =>
    lab.ask(saying(`cy ${at}`, { model: 'hung', user: 'cy' }), by('webui')),
  'a webhook whose turns hang, each in a conversation of its own': (lab: HttpLab, at: number) =>
    deliver(lab, 'one', { text: 'hi', in: `c-${at}` }),
  'a webhook that floods a conversation': (lab: HttpLab, at: number) =>
    deliver(lab, 'one', { text: `${at}`, in: 'c' }),
} as const;

/** All others that may ask: each is answered. */
const others: Readonly<Record<string, (lab: HttpLab, at: number) => Promise<string>>> = {
  key: async (lab, at) => said(await lab.ask(saying(`bob ${at}`), by('bob'))),
  person: async (lab, at) => said(await lab.ask(saying('dan', { user: `dan ${at}` }), by('webui'))),
  hook: async (lab, at) =>
    String((await deliver(lab, 'two', { text: 'hi', in: `d-${at}` })).status),
};

const said = async (answer: Response): Promise<string> =>
  answer.ok ? textOf(answer) : String((await errorOf(answer))['code']);

describe('the law for all doors at HTTP (durability §8.9, http §1.5)', () => {
  it.each(Object.keys(misdeeds) as (keyof typeof misdeeds)[])(
    'holds beside %s: others are answered while no time passes (durability §8.9, http §1.5)',
    async (misdeed) => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 80 }),
          fc.shuffledSubarray(Object.keys(others), { minLength: 1 }),
          async (times, chosen) => {
            await using lab = await labOf();
            for (let at = 0; at < times; at++)
              void misdeeds[misdeed](lab, at).catch(() => undefined);
            for (const [at, who] of chosen.entries())
              expect(await others[who]?.(lab, at)).toMatch(/^(done|202)$/);
          },
        ),
        { numRuns: 3, examples: [[80, ['key', 'person', 'hook']]] },
      );
    },
  );
});
