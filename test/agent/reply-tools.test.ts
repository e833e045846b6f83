import { describe, expect, it } from 'vitest';
import { ended, replyLab, started, streamed, toolEnd, toolStart } from './reply-lab.js';

describe('A tool call', () => {
  const call = [toolStart('1', 'exec', { command: 'ls' }), toolEnd('1', 'exec')];

  it.each([
    ['off', []],
    ['on', [{ text: 'exec: `ls`' }]],
    ['full', [{ text: 'exec: `ls`' }, { text: 'exec: `ls`\n```txt\nseen\n```' }]],
  ] as const)(
    'with verbose %s shows what it should: a line when it starts, its output when it ends',
    async (verboseLevel, shown) => {
      const lab = replyLab({ verboseLevel });
      await lab.run(started, ...call, ended);
      expect(lab.told('onToolResult')).toEqual(shown);
    },
  );

  it('comes in order: start, update, end, its output, and the hook after it', async () => {
    const lab = replyLab({
      verboseLevel: 'full',
      onAfterToolCall: () => lab.calls.push(['after']),
    });
    await lab.run(
      started,
      toolStart('1'),
      {
        type: 'tool_execution_update',
        toolCallId: '1',
        toolName: 'look',
        args: {},
        partialResult: 1,
      },
      toolEnd('1'),
      ended,
    );
    expect(lab.names().slice(1, -1)).toEqual([
      'onAgentEvent tool start',
      'onToolResult',
      'onAgentEvent tool update',
      'onAgentEvent tool result',
      'onToolResult',
      'after',
    ]);
  });

  it('is asked about instead of the verbose level where the host says so', async () => {
    const lab = replyLab({
      verboseLevel: 'full',
      shouldEmitToolResult: () => false,
      shouldEmitToolOutput: () => false,
    });
    await lab.run(started, ...call, ended);
    expect(lab.told('onToolResult')).toEqual([]);
  });

  it('shows media without its output; a file only where the tool may name files', async () => {
    const result = {
      content: [{ type: 'text', text: 'MEDIA: /tmp/a.png\nMEDIA: https://example.org/b.png' }],
    };
    const far = replyLab();
    const near = replyLab({ tools: { mayNameFiles: () => true } });
    await far.run(started, toolStart('1'), toolEnd('1', 'look', result), ended);
    await near.run(started, toolStart('1'), toolEnd('1', 'look', result), ended);
    expect(far.told('onToolResult')).toEqual([{ mediaUrls: ['https://example.org/b.png'] }]);
    expect(near.told('onToolResult')).toEqual([
      { mediaUrls: ['/tmp/a.png', 'https://example.org/b.png'] },
    ]);
  });

  it('that fails is the last error until the same succeeds, or any call where it changes nothing', async () => {
    const failed = [
      toolStart('1', 'exec', { command: 'rm' }),
      toolEnd('1', 'exec', { content: [{ type: 'text', text: 'No.' }] }, true),
    ];
    const other = [toolStart('2', 'read'), toolEnd('2', 'read')];
    const plain = replyLab();
    const changing = replyLab({
      tools: { mutationOf: (tool) => ({ mutatingAction: tool === 'exec' }) },
    });
    await plain.run(started, ...failed, ended);
    await changing.run(started, ...failed, ...other, ended);
    expect(plain.replies.getLastToolError()).toEqual({
      toolName: 'exec',
      meta: 'rm',
      error: 'No.',
      mutatingAction: false,
    });
    expect(changing.replies.getLastToolError()).toMatchObject({
      toolName: 'exec',
      mutatingAction: true,
    });
    await plain.run(started, ...other, ended);
    expect(plain.replies.getLastToolError()).toBeUndefined();
  });

  it('that asks people for approval shows the question, and holds the texts back that follow', async () => {
    const lab = replyLab({ wording: { formatApproval: () => ({ text: 'May it?' }) } });
    await lab.run(started, ...call, ...streamed(['It waits.']), ended);
    expect(lab.told('onToolResult')).toEqual([{ text: 'May it?' }]);
    expect(lab.told('onPartialReply')).toEqual([]);
    expect(lab.replies.didSendDeterministicApprovalPrompt()).toBe(true);
  });

  it('tells the bus its arguments and its result, and the host neither', async () => {
    const bus: unknown[] = [];
    const host: unknown[] = [];
    const lab = replyLab({
      emitAgentEvent: ({ data }) => bus.push(data),
      onAgentEvent: ({ data }) => host.push(data),
    });
    await lab.run(started, ...call, ended);
    expect(bus[1]).toMatchObject({ phase: 'start', args: { command: 'ls' } });
    expect(bus[2]).toMatchObject({ phase: 'result', result: { content: [{ text: 'seen' }] } });
    expect(JSON.stringify(host)).not.toMatch(/"args"|"result":/);
  });
});

describe('The flush before a tool', () => {
  it('is awaited before anything of the tool happens, and everything after waits its turn', async () => {
    let release: (() => void) | undefined;
    const lab = replyLab({
      onBlockReplyFlush: () => {
        lab.calls.push(['flush']);
        return new Promise<void>((resolve) => {
          release = () => {
            lab.calls.push(['flushed']);
            resolve();
          };
        });
      },
    });
    for (const event of [started, ...streamed(['Look.']), toolStart('1'), toolEnd('1')])
      void lab.replies.handle(event);
    await Promise.resolve();
    expect(lab.names().at(-1)).toBe('flush');
    release?.();
    await lab.replies.settled();
    expect(lab.names().slice(-4)).toEqual([
      'flush',
      'flushed',
      'onAgentEvent tool start',
      'onAgentEvent tool result',
    ]);
  });

  it('that rejects is logged, and the tool goes on', async () => {
    const errors: unknown[] = [];
    const none = () => undefined;
    const lab = replyLab({
      sessionId: 'session',
      logger: {
        debug: none,
        info: none,
        warn: none,
        error: (line, fields) =>
          errors.push([line, fields?.['callback'], fields?.['runId'], fields?.['sessionId']]),
      },
      onBlockReplyFlush: () => Promise.reject(new Error('gone')),
    });
    await lab.run(started, toolStart('1'), toolEnd('1'), ended);
    expect(lab.names()).toContain('onAgentEvent tool result');
    expect(errors[0]).toEqual(['a reply callback failed', 'onBlockReplyFlush', 'run', 'session']);
  });
});

describe('A callback', () => {
  it('that throws is logged and stops nothing', async () => {
    const boom = () => {
      throw new Error('boom');
    };
    const lab = replyLab({
      onPartialReply: boom,
      onAgentEvent: boom,
      onAssistantMessageStart: boom,
    });
    await lab.run(started, ...streamed(['Yes.']), ended);
    expect(lab.told('onBlockReply')).toHaveLength(1);
  });

  it('may hand in an event: it is handled after the one that called it', async () => {
    const lab = replyLab({
      onPartialReply: () => {
        lab.calls.push(['partial']);
        if (lab.names().filter((name) => name === 'partial').length === 1)
          void lab.replies.handle(toolStart('1'));
      },
    });
    for (const event of [started, ...streamed(['Yes.'])]) void lab.replies.handle(event);
    const names = lab.names();
    expect(names.indexOf('partial')).toBeLessThan(names.indexOf('onAgentEvent tool start'));
  });

  it('and each session event is traced with the run and the session', async () => {
    const lines: unknown[] = [];
    const none = () => undefined;
    const logger = {
      info: none,
      warn: none,
      error: none,
      debug: (line: string, fields?: object) => lines.push({ line, ...fields }),
    };
    const lab = replyLab({ sessionId: 'session', logger });
    await lab.run(started, ended);
    const ids = { runId: 'run', sessionId: 'session' };
    expect(lines).toEqual([
      { line: 'session event', ...ids, type: 'agent_start' },
      { line: 'reply callback', ...ids, callback: 'onAgentEvent' },
      { line: 'session event', ...ids, type: 'agent_end' },
      { line: 'reply callback', ...ids, callback: 'onAgentEvent' },
    ]);
  });
});
