import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claudeProvider, echoProvider, loadClaudeSdk } from '../../src/agent/index.js';
import { says, stalls } from '../support/messages-api/reply.js';
import { afterDeltas, ClaudeLab, describeClaude, processesOf, sdkFolder } from './claude-lab.js';
import { expectSound } from './soundness.js';

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
    for (const said of ['Count', `assistant: ${lab.api.sent[0]}`, 'And then?'])
      expect(asked.split(said)).toHaveLength(2);
  });

  it('go on after a restart, with the history in the place of its memory', async () => {
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
