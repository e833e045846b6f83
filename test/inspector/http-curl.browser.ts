import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cancel, defineExtension } from 'sluice';
import { scriptedAgent } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { httpLab, saying } from '../../extensions/http/test/http-lab.js';

/** Runs curl without its user's settings. @returns what it has written to stdout. */
async function curl(...args: readonly string[]): Promise<string> {
  const run = promisify(execFile);
  const { stdout } = await run('curl', ['--disable', '--silent', '--show-error', ...args], {
    env: { PATH: process.env['PATH'] },
    timeout: 60_000,
  });
  return stdout;
}

describe('curl', () => {
  it('gets a completion whole, and as a stream while it grows (http §2.1, http §3.1)', async () => {
    const agent = scriptedAgent([['Tea at four.']]);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent }] });
    const chat = `${lab.url}/v1/chat/completions`;
    const whole = await curl(chat, '--json', JSON.stringify(saying('When?')));
    expect(JSON.parse(whole)).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'Tea at four.' } }],
    });
    const stream = await curl(
      chat,
      '--no-buffer',
      '--json',
      JSON.stringify(saying('And?', { stream: true })),
    );
    expect(stream).toContain('"content":"Tea at four."');
    expect(stream.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('is told by status and code why there is no answer (http §4.1)', async () => {
    const guard = defineExtension({
      id: 'guard',
      setup: (api) =>
        api.veto('egress.preparing', 'no', ({ payload }) =>
          payload.kind === 'reply' ? cancel('unsafe') : undefined,
        ),
    });
    await using lab = await httpLab({}, { extensions: [{ extension: guard }] });
    const chat = `${lab.url}/v1/chat/completions`;
    const status = ['--write-out', '\n%{http_code}'];
    const [refused = '', code] = (
      await curl(chat, ...status, '--json', JSON.stringify(saying('hi')))
    ).split('\n');
    expect([JSON.parse(refused), code]).toMatchObject([{ error: { code: 'unsafe' } }, '403']);
    const broken = await curl(chat, ...status, '--json', '{broken');
    expect(broken).toMatch(/"event_id":"[^"]+".*\n400$/);
  });
});
