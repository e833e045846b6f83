import { createHash, createHmac } from 'node:crypto';
import { scriptedAgent } from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import { errorOf, type HttpLab, httpLab, saying, steppedAgent, textOf } from './http-lab.js';

const secret = 'a secret of some length';
const names = ['ada', 'bob', 'webui'];
const keys = names.map((name) => ({
  ...{ name, sha256: createHash('sha256').update(`key of ${name}`).digest('hex') },
  frontEnd: name === 'webui',
}));
const hook = { secret, text: '{/text}', conversation: 'one' };
const settings = { keys, webhooks: { one: hook, two: hook } };

/** A host of which one agent never ends its turns, and the other answers at once. */
async function labOf(): Promise<HttpLab> {
  const hung = steppedAgent(['never']);
  return httpLab(
    { ...settings, models: { hung: { agent: 'hung' }, sluice: { agent: 'quick' } } },
    {
      lanes: { maxRunning: 200 }, // the places of the host are another matter
      agents: [
        { id: 'hung', provider: hung.provider },
        { id: 'quick', provider: scriptedAgent(Array.from({ length: 9 }, () => ['done'])) },
      ],
    },
  );
}

const by = (name: string) => ({ authorization: `Bearer key of ${name}` });

/** Has requests hang, each in a conversation of its own. @returns how many of them were refused as busy. */
async function hang(lab: HttpLab, count: number, name: string, user?: string): Promise<number> {
  const before = (await lab.test.journal.updates({ limit: 1_000 })).length;
  let busy = 0;
  for (let at = 0; at < count; at++)
    void lab
      .ask(saying(`${user ?? name} ${at}`, { model: 'hung', user }), by(name))
      .then(async (answer) => {
        if (answer.status === 503 && (await errorOf(answer))['code'] === 'busy') busy++;
      })
      .catch(() => undefined);
  await vi.waitFor(
    async () =>
      expect((await lab.test.journal.updates({ limit: 1_000 })).length - before + busy).toBe(count),
    { timeout: 60_000 },
  );
  return busy;
}

async function answerTo(lab: HttpLab, name: string, user?: string): Promise<string> {
  const answer = await lab.ask(saying(`a word of ${user ?? name}`, { user }), by(name));
  return answer.ok ? textOf(answer) : String((await errorOf(answer))['code']);
}

async function press(lab: HttpLab, name: string, user?: string): Promise<number> {
  const headers = { ...by(name), 'x-sluice-conversation': 'tea' };
  const body = JSON.stringify({ button: 'x', user });
  return (await fetch(`${lab.url}/v1/presses`, { method: 'POST', body, headers })).status;
}

async function bring(lab: HttpLab, name: string): Promise<number> {
  const body = JSON.stringify({ text: 'hi' });
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'x-hub-signature-256': `sha256=${digest}` };
  return (await fetch(`${lab.url}/hooks/${name}`, { method: 'POST', body, headers })).status;
}

describe('R5: the places of requests', () => {
  it('are a quarter for one key: whatever it does, others and webhooks are answered (http §1.5)', async () => {
    await using lab = await labOf();
    expect(await hang(lab, 64, 'ada')).toBe(48);
    expect(await answerTo(lab, 'ada')).toBe('busy');
    expect(await press(lab, 'ada')).toBe(202); // of an answer that waits for it
    expect(await answerTo(lab, 'bob')).toBe('done');
    expect(await answerTo(lab, 'webui', 'cy')).toBe('done');
    expect(await bring(lab, 'one')).toBe(202);
  });

  it('are a quarter for one person of a front end, which leaves a quarter to other keys (http §1.5)', async () => {
    await using lab = await labOf();
    expect(await hang(lab, 20, 'webui', 'cy')).toBe(4);
    expect(await answerTo(lab, 'webui', 'cy')).toBe('busy');
    expect(await press(lab, 'webui', 'cy')).toBe(202);
    expect(await answerTo(lab, 'webui', 'dan')).toBe('done');
    expect(await hang(lab, 16, 'webui', 'dan')).toBe(0);
    expect(await hang(lab, 17, 'webui', 'eve')).toBe(1);
    expect(await answerTo(lab, 'webui', 'fay')).toBe('busy');
    expect(await answerTo(lab, 'bob')).toBe('done');
    expect(await bring(lab, 'two')).toBe(202);
  });
});
