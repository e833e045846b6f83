import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CoderStreamEvent } from '../../../../src/claude/index.js';
import type { SessionEvent } from '../../../../src/sdk/stream/index.js';
import { CliProcess, fixture, jsonLines, runCli } from '../../../cli/cli.js';
import { runInMemory } from '../../../cli/memory-shell.js';
import { recordings, visibleTexts } from '../../../support/recordings.js';

const recording = fixture('recording.jsonl');
const twoTurns = recordings().find(({ name }) => name === 'two-turns.jsonl')?.path ?? '';

function textLines(events: readonly SessionEvent[]): string {
  return events
    .map((event) =>
      event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta'
        ? event.assistantMessageEvent.delta
        : '',
    )
    .join('');
}

describe('sluice normalize', () => {
  it('prints the session events of a recording, a line of JSON each', async () => {
    const { code, stdout, stderr } = await runCli(['normalize', recording]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const events = jsonLines<SessionEvent>(stdout);
    expect(events.map(({ type }) => type)).toEqual([
      'agent_start',
      'message_start',
      'tool_execution_start',
      'message_end',
      'tool_execution_end',
      'message_start',
      'message_update',
      'message_update',
      'message_update',
      'message_end',
      'agent_end',
    ]);
  });

  it('prints everything once: no message so far, no messages at the end', async () => {
    const { stdout } = await runInMemory(['normalize', recording]);
    const events = jsonLines<SessionEvent>(stdout);
    expect(events).toContainEqual({
      type: 'message_update',
      assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: 'It says hello.' },
    });
    for (const event of events) {
      expect(event).not.toHaveProperty('assistantMessageEvent.partial');
      expect(event).not.toHaveProperty('messages');
      if (event.type === 'message_start') expect(event.message.content).toEqual([]);
      if (event.type === 'message_update') expect(event).not.toHaveProperty('message');
    }
  });

  it('prints coder events with --coder, without what they were made of', async () => {
    const { code, stdout, stderr } = await runInMemory(['normalize', '--coder', recording]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const events = jsonLines<CoderStreamEvent>(stdout);
    expect(events.map(({ type }) => type)).toEqual([
      'init',
      'tool_use',
      'tool_result',
      'message',
      'message',
      'usage',
      'done',
    ]);
    for (const event of events) {
      expect(event).toMatchObject({ provider: 'claude', ts: expect.any(Number) });
      expect(event).not.toHaveProperty('originalItem');
    }
  });

  it('takes each result as the end of a run, and with --coder the end of the file', async () => {
    const session = jsonLines<SessionEvent>((await runInMemory(['normalize', twoTurns])).stdout);
    expect(session.filter(({ type }) => type === 'agent_end')).toHaveLength(2);
    const coder = await runInMemory(['normalize', '--coder', twoTurns]);
    const events = jsonLines<CoderStreamEvent>(coder.stdout);
    expect(events.filter(({ type }) => type === 'done')).toHaveLength(1);
    expect(events.at(-1)?.type).toBe('done');
  });

  it.each(recordings())('takes $name: each visible text once', async ({ path, lines }) => {
    const { code, stdout, stderr } = await runInMemory(['normalize', path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(textLines(jsonLines(stdout))).toBe(visibleTexts(lines).join(''));
  });

  it('reads stdin as -', async () => {
    const input = readFileSync(recording, 'utf8');
    const { code, stdout } = await runInMemory(['normalize', '-'], input);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: (await runInMemory(['normalize', recording])).stdout,
    });
  });

  it('takes a file without any message as no run', async () => {
    expect(await runInMemory(['normalize', '-'], '\n\n')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it.each([[[]], [['--coder']], [['--check']]])(
    'names a malformed line with its number, goes on, and exits with 1: %j',
    async (options) => {
      const args = ['normalize', ...options, fixture('malformed.jsonl')];
      const { code, stdout, stderr } = await runInMemory(args);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^sluice: bad-line: \S*malformed\.jsonl, line 3: .*\n$/);
      const whole = await runInMemory(['normalize', ...options, recording]);
      const untimed = (text: string) => text.replace(/"ts":\d+/g, '"ts":0');
      expect(untimed(stdout)).toBe(untimed(whole.stdout));
    },
  );

  it.each([
    [['normalize'], 'bad-arguments'],
    [['normalize', '--coder', '--check', recording], 'bad-arguments'],
    [['normalize', 'nowhere.jsonl'], 'missing-file'],
    [['normalize', 'src'], 'unreadable-file'],
  ])('refuses %j', async (args, problem) => {
    const { code, stdout, stderr } = await runInMemory(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^sluice: ${problem}: .*\\n$`));
  });

  it('has a help with an example', async () => {
    const { stdout } = await runInMemory(['normalize', '--help']);
    expect(stdout).toContain('$ sluice normalize session.jsonl');
  });

  it('prints a line as soon as its message comes, and says at a signal that more was to come (§20.15)', async () => {
    const cli = new CliProcess(['normalize', '-']);
    cli.child.stdin.write(
      `${readFileSync(recording, 'utf8').split('\n').slice(0, 2).join('\n')}\n`,
    );
    await cli.until('tool_execution_start');
    cli.child.kill('SIGINT');
    const { code, stderr } = await cli.ended;
    const line =
      'sluice: interrupted: SIGINT has stopped it: not all of it was read. Run it again.\n';
    expect({ code, stderr }).toEqual({ code: 1, stderr: line });
  });

  it('ends quietly when nobody reads its output any more', async () => {
    const cli = new CliProcess(['normalize', '--coder', '-']);
    const line = `${JSON.stringify({ type: 'rate_limit_event' })}\n`;
    cli.child.stdin.write(line);
    await cli.until('rate_limit_event');
    cli.child.stdout.destroy();
    const pouring = setInterval(() => cli.child.stdin.write(line), 1);
    const { code, stderr } = await cli.ended;
    clearInterval(pouring);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe('sluice normalize --check', () => {
  const event = (type: string, fields: object = {}) => `${JSON.stringify({ type, ...fields })}\n`;
  const call = { toolCallId: 't1' };
  const broken = [
    event('agent_start'),
    event('tool_execution_start', call),
    event('tool_execution_start', call),
    event('tool_execution_end', call),
    event('agent_end'),
    event('agent_start'),
    event('message_end'),
  ].join('');

  it.each(recordings())('finds nothing in $name', async ({ path }) => {
    expect(await runInMemory(['normalize', '--check', path])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('finds nothing in what normalize prints', async () => {
    const { stdout } = await runInMemory(['normalize', twoTurns]);
    expect(await runInMemory(['normalize', '--check', '-'], stdout)).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('names what is out of order in session events, by run and event, and exits with 1', async () => {
    const { code, stdout, stderr } = await runInMemory(['normalize', '--check', '-'], broken);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const places = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(': ').slice(0, 2));
    expect(places).toEqual([
      ['run 1, event 3', 'tool-started-twice'],
      ['run 2, event 2', 'message-not-open'],
      ['run 2, event 3', 'agent-end-missing'],
    ]);
  });

  it('prints them as JSON with --json', async () => {
    const args = ['normalize', '--check', '--json', '-'];
    const { code, stdout } = await runInMemory(args, broken);
    expect(code).toBe(1);
    expect(jsonLines(stdout)[0]).toEqual({
      run: 1,
      index: 2,
      rule: 'tool-started-twice',
      message: expect.any(String),
    });
  });

  it('finds text that is not what its deltas add up to', async () => {
    const { stdout } = await runInMemory(['normalize', recording]);
    const wrong = stdout.replace('"delta":"It says hello."', '"delta":"It says hell."');
    const { code, stdout: found } = await runInMemory(['normalize', '--check', '-'], wrong);
    expect(code).toBe(1);
    expect(found).toContain('block-content');
  });

  it('names an event that has no place in an order, and goes on', async () => {
    const input = [
      event('agent_start'),
      event('message_update', { assistantMessageEvent: { type: 'text_delta' } }),
      event('message_update'),
      event('tool_execution_end'),
      event('rate_limit_event'),
      event('agent_end'),
    ].join('');
    const { code, stdout, stderr } = await runInMemory(['normalize', '--check', '-'], input);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(
      stderr
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(0, 36)),
    ).toEqual([
      'sluice: bad-line: stdin, event 2: "m',
      'sluice: bad-line: stdin, event 3: "m',
      'sluice: bad-line: stdin, event 4: "t',
      'sluice: bad-line: stdin, event 5: "r',
    ]);
  });
});
