import { existsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type AgentSession,
  echoProvider,
  type ProviderSessions,
} from '../../../src/agent/index.js';
import { claudeProvider, loadClaudeSdk } from '../../../src/claude/agent/index.js';
import type { TranscriptEntry } from '../../../src/sdk/stream/index.js';
import { calls, says, stalls } from '../../support/messages-api/reply.js';
import { afterDeltas, ClaudeLab, describeClaude, processesOf, sdkFolder } from './claude-lab.js';
import { expectSound } from './soundness.js';

/** Turns by a provider that knows nothing of those before, with what these had kept. */
async function restarted(lab: ClaudeLab, providerSessions: ProviderSessions) {
  const query = await loadClaudeSdk(sdkFolder);
  const provider = claudeProvider({ query, cwd: lab.cwd, env: lab.env });
  return (text: string, transcript: Pick<AgentSession, 'begun'> & Partial<AgentSession> = {}) => {
    const session = {
      ...{ agentId: 'main', sessionKey: 'console:local', sessionId: 'session-1' },
      history: [...lab.written],
      append: (entry: TranscriptEntry) => void lab.written.push(entry),
      providerSessions,
      ...transcript,
    };
    return lab.turn(text, { provider, session });
  };
}

describeClaude('the turns of a session', () => {
  it('share the memory of one session of the SDK', async () => {
    await using lab = await ClaudeLab.start({ main: [says('One.'), says('Two.'), says('Three.')] });
    for (const [at, answer] of ['One.', 'Two.', 'Three.'].entries())
      await expectSound(await lab.turn(`Question ${at + 1}`), [answer]);
    const asked = lab.api.requests.at(-1)?.messages.join('\n') ?? '';
    for (const said of ['Question 1', 'One.', 'Question 2', 'Two.', 'Question 3'])
      expect(asked.split(said)).toHaveLength(2);
    expect(asked).not.toContain('conversation_so_far');
  });

  it('go on at once after one that was stopped, with what was said until then', async () => {
    const main = [stalls('one two three four five six', 3), says('Go on.')];
    await using lab = await ClaudeLab.start({ main });
    const stop = new AbortController();
    const onEvent = afterDeltas(3, () => stop.abort());
    await lab.turn('Count', { signal: stop.signal, callbacks: { onEvent } });
    const stopped = processesOf(lab.home);
    let left = 0;
    const count = (): void => {
      left += processesOf(lab.home).filter((pid) => stopped.includes(pid)).length;
    };
    await expectSound(await lab.turn('And then?', { callbacks: { onEvent: count } }), ['Go on.']);
    expect(left).toBe(0);
    const asked = lab.api.requests.at(-1)?.messages.join('\n') ?? '';
    for (const said of ['Count', `${lab.api.sent[0]}`, 'And then?'])
      expect(asked.split(said)).toHaveLength(2);
  });

  it('go on after a restart with the SDK’s own session, where that was kept (§16.15)', async () => {
    const reads = calls('toolu_1', 'Bash', { command: 'echo from-the-tool' });
    await using lab = await ClaudeLab.start({
      main: [says('I look.', reads), says('One.'), says('Two.')],
    });
    const { result } = await lab.turn('Question 1');
    const again = await restarted(lab, result.providerSessions);
    expect((await again('Question 2')).result.assistantTexts).toEqual(['Two.']);
    const asked = lab.api.requests.at(-1)?.messages.join('\n') ?? '';
    for (const said of ['Question 1', 'One.', 'Question 2'])
      expect(asked.split(said)).toHaveLength(2);
    expect(asked).toContain('from-the-tool');
    expect(asked).not.toContain('conversation_so_far');
  });

  it('say a prompt once that a killed host had asked already, with what was done about it (§16.15)', async () => {
    const main = [says('One.'), stalls('two three four five six seven', 3), says('Done.')];
    await using lab = await ClaudeLab.start({ main });
    const before = await lab.turn('Question 1');
    const history = [...lab.written];
    const stop = new AbortController();
    const onEvent = afterDeltas(3, () => stop.abort());
    await lab.turn('Question 2', { signal: stop.signal, callbacks: { onEvent } });
    const begun = lab.written.slice(history.length);
    const again = await restarted(lab, before.result.providerSessions);
    expect((await again('Question 2', { history, begun })).result.assistantTexts).toEqual([
      'Done.',
    ]);
    const asked = lab.api.requests.at(-1)?.messages.join('\n') ?? '';
    for (const said of ['Question 1', 'One.', 'Question 2', `${lab.api.sent[1]}`])
      expect(asked.split(said)).toHaveLength(2);
    expect(asked).not.toContain('user: ');
  });

  it('go on where the SDK’s own session is gone, with the history in its place (§16.15)', async () => {
    await using lab = await ClaudeLab.start({ main: [says('One.'), says('Two.')] });
    const { result } = await lab.turn('Question 1');
    await rm(join(lab.home, '.claude', 'projects'), { recursive: true });
    const again = await restarted(lab, result.providerSessions);
    expect((await again('Question 2')).result).toMatchObject({
      status: 'completed',
      assistantTexts: ['Two.'],
    });
    const asked = lab.api.requests.at(-1)?.messages.join('\n') ?? '';
    for (const said of ['user: Question 1', 'assistant: One.', 'Question 2'])
      expect(asked.split(said)).toHaveLength(2);
  });

  it('keep the answer that the SDK gives the tool call in which they are stopped (§16.16)', async () => {
    const sleeps = calls('toolu_1', 'Bash', { command: 'echo begun > begun; sleep 60' });
    await using lab = await ClaudeLab.start({ main: [says('I wait.', sleeps)] });
    const stop = new AbortController();
    const begun = join(lab.cwd, 'begun');
    const watching = setInterval(() => existsSync(begun) && stop.abort(), 20); // a tool gives no other sign
    const turn = await lab.turn('Wait', { signal: stop.signal, graceMs: 30_000 });
    clearInterval(watching);
    expect(turn.result.status).toBe('aborted');
    const ends = turn.events.filter(({ type }) => type === 'tool_execution_end');
    expect(ends).toMatchObject([{ toolCallId: 'toolu_1', isError: true }]);
    expect(JSON.stringify(ends)).toContain('User rejected tool use');
    expect(lab.written.at(-1)).toMatchObject({ role: 'toolResult', isError: true });
    await lab.untilNothingRuns();
  });

  it('go on after a restart, with the history in the place of a memory that nobody kept', async () => {
    await using lab = await ClaudeLab.start({ main: [says('One.'), says('Two.')] });
    await lab.turn('Question 1');
    const provider = claudeProvider({
      query: await loadClaudeSdk(sdkFolder),
      cwd: lab.cwd,
      env: lab.env,
    });
    expect((await lab.turn('Question 2', { provider })).result.assistantTexts).toEqual(['Two.']);
    const asked = lab.api.requests.at(-1)?.messages.join('\n') ?? '';
    for (const said of ['user: Question 1', 'assistant: One.', 'Question 2'])
      expect(asked.split(said)).toHaveLength(2);
  });

  it('hear what another provider has answered meanwhile, once', async () => {
    await using lab = await ClaudeLab.start({
      main: [says('One.'), says('Three.'), says('Four.')],
    });
    await lab.turn('Question 1');
    await lab.turn('Question 2', { provider: echoProvider() });
    await lab.turn('Question 3');
    await lab.turn('Question 4');
    const asked = lab.api.requests.at(-1)?.messages.join('\n') ?? '';
    for (const said of ['Question 1', 'user: Question 2', 'assistant: Question 2', 'Question 3'])
      expect(asked.split(said)).toHaveLength(2);
  });

  it('get the system prompt of each turn anew', async () => {
    await using lab = await ClaudeLab.start({ main: [says('One.'), says('Two.')] });
    await lab.turn('Question 1', { systemPrompt: 'Speak of the sea.' });
    await lab.turn('Question 2', { systemPrompt: 'Speak of the hills.' });
    expect(lab.api.requests[0]?.system).toContain('Speak of the sea.');
    expect(lab.api.requests[1]?.system).toContain('Speak of the hills.');
    expect(lab.api.requests[1]?.system).not.toContain('Speak of the sea.');
  });
});

describeClaude('a prompt', () => {
  it('reads no file by its name, and runs no command', async () => {
    await using lab = await ClaudeLab.start({ main: [says('One.'), says('Two.')] });
    writeFileSync(join(lab.cwd, 'secret.txt'), 'the content of the file');
    await expectSound(await lab.turn('What is in @secret.txt?'), ['One.']);
    await expectSound(await lab.turn('/compact'), ['Two.']);
    const asked = lab.api.requests.flatMap(({ messages }) => messages).join('\n');
    expect(asked).not.toContain('the content of the file');
    expect(asked).toContain('/compact');
  });

  it('is answered by the model that was chosen', async () => {
    await using lab = await ClaudeLab.start({ main: [says('One.')] });
    await lab.turn('Question', { model: 'haiku' });
    expect(lab.api.requests[0]?.model).toContain('haiku');
  });
});
