import { describe, expect, it } from 'vitest';
import {
  compactionEnd,
  compactionStart,
  ended,
  message,
  replyLab,
  started,
  streamed,
  toolEnd,
  toolStart,
} from './reply-lab.js';

describe('The end of a run', () => {
  const failing = (errorMessage: string) => {
    const failed = { ...message('Half an'), stopReason: 'error' as const, errorMessage };
    return [
      started,
      { type: 'message_start' as const, message: failed },
      { type: 'message_end' as const, message: failed },
      ended,
    ];
  };

  it('is an error where its last message is one, in the words of formatAssistantErrorText', async () => {
    const told: unknown[] = [];
    const lab = replyLab({
      onAgentEvent: ({ data }) => told.push(data),
      wording: { formatAssistantErrorText: ({ errorMessage }) => `Sorry: ${errorMessage}` },
    });
    await lab.run(...failing('429'));
    expect(told.at(-1)).toEqual({ phase: 'error', error: 'Sorry: 429' });
  });

  it('is an error where the run says so, and none where somebody stopped it', async () => {
    const told: unknown[] = [];
    const lab = replyLab({ onAgentEvent: ({ data }) => told.push(data) });
    const error = { subtype: 'error_max_turns', message: 'Too many turns.' };
    await lab.run(started, ...streamed(['Yes.']), { type: 'agent_end', messages: [], error });
    expect(told.at(-1)).toEqual({ phase: 'error', error: 'Too many turns.' });
    await lab.run(started, { type: 'agent_end', messages: [], error, aborted: true });
    expect(told.at(-1)).toEqual({ phase: 'end' });
  });

  it('hands over what no message ended, and flushes', async () => {
    const lab = replyLab(
      { onBlockReplyFlush: () => lab.calls.push(['flush']) },
      { outOfOrder: true },
    );
    const [start, ...rest] = streamed(['Half an ans']);
    for (const event of [started, start, ...rest.slice(0, 2), ended])
      if (event !== undefined) void lab.replies.handle(event);
    await lab.replies.settled();
    expect(lab.replies.assistantTexts).toEqual(['Half an ans']);
    expect(lab.names()).toContain('flush');
  });

  it('adds up what its messages used', async () => {
    const lab = replyLab();
    const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3 };
    const used = { ...message('Yes.'), usage };
    const one = [
      { type: 'message_start' as const, message: used },
      { type: 'message_end' as const, message: used },
    ];
    await lab.run(started, ...one, ...one, ended);
    expect(lab.replies.getUsageTotals()).toEqual({ input: 2, output: 4, total: 6 });
  });
});

describe('A compaction', () => {
  it('as OpenClaw orders it is told before its hook, and its end before the hook after it, which comes only when it is final', async () => {
    const lab = replyLab({
      order: 'openclaw',
      onBeforeCompaction: () => lab.calls.push(['before']),
      onAfterCompaction: (result) => lab.calls.push(['after', result]),
    });
    await lab.run(started, compactionStart, compactionEnd(true), ended);
    expect(lab.names().slice(1, -1)).toEqual([
      'onAgentEvent compaction start',
      'before',
      'onAgentEvent compaction end',
    ]);
    await lab.run(started, compactionStart, compactionEnd(false), ended);
    expect(lab.calls).toContainEqual(['after', { compactedCount: 2 }]);
    expect(lab.replies.getCompactionCount()).toBe(2);
  });

  it('that tries again starts over: texts, tools and what was sent are forgotten', async () => {
    const lab = replyLab();
    await lab.run(
      started,
      ...streamed(['Yes.']),
      toolStart('1'),
      toolEnd('1'),
      compactionStart,
      compactionEnd(true),
      ended,
    );
    expect(lab.replies.assistantTexts).toEqual([]);
    expect(lab.replies.toolMetas).toEqual([]);
  });

  it('hooks are not awaited, and may fail', async () => {
    const lab = replyLab({ onBeforeCompaction: () => Promise.reject(new Error('no')) });
    await lab.run(started, compactionStart, compactionEnd(false), ended);
    expect(lab.names()).toContain('onAgentEvent compaction end');
  });
});

describe('waitForCompactionRetry', () => {
  const state = async (promise: Promise<void>): Promise<string> => {
    const settled = promise.then(
      () => 'resolved',
      (error: Error) => error.name,
    );
    await Promise.resolve().then(() => undefined);
    return Promise.race([
      settled,
      new Promise<string>((resolve) => setImmediate(resolve, 'pending')),
    ]);
  };

  it('resolves at once where nothing is compacted', async () => {
    expect(await state(replyLab().replies.waitForCompactionRetry())).toBe('resolved');
  });

  it('waits for the compaction, and for each run that is tried again after one', async () => {
    const { replies } = replyLab();
    void replies.handle(started);
    void replies.handle(compactionStart);
    const waiting = replies.waitForCompactionRetry();
    expect(await state(waiting)).toBe('pending');
    void replies.handle(compactionEnd(true));
    expect(replies.isCompacting()).toBe(true);
    expect(replies.isCompactionInFlight()).toBe(false);
    expect(await state(waiting)).toBe('pending');
    void replies.handle(ended);
    expect(await state(waiting)).toBe('resolved');
  });

  it('rejects with an AbortError when it is unsubscribed, and ever after', async () => {
    const { replies } = replyLab();
    void replies.handle(started);
    void replies.handle(compactionStart);
    const waiting = replies.waitForCompactionRetry();
    expect(await state(waiting)).toBe('pending');
    replies.unsubscribe();
    replies.unsubscribe();
    expect(await state(waiting)).toBe('AbortError');
    expect(await state(replies.waitForCompactionRetry())).toBe('AbortError');
  });
});

describe('unsubscribe', () => {
  it('ends every callback, also of events that wait', async () => {
    let release: (() => void) | undefined;
    const flush = new Promise<void>((resolve) => {
      release = resolve;
    });
    const lab = replyLab({ onBlockReplyFlush: () => flush });
    for (const event of [started, toolStart('1'), toolEnd('1')]) void lab.replies.handle(event);
    const before = lab.calls.length;
    lab.replies.unsubscribe();
    release?.();
    await lab.replies.settled();
    expect(lab.replies.handle(ended)).toBeUndefined();
    expect(lab.calls).toHaveLength(before);
  });
});

describe("The seed's order", () => {
  it.each([
    ['seed', {}, ['onPartialReply', 'onAgentEvent assistant']],
    ['openclaw', { order: 'openclaw' }, ['onAgentEvent assistant', 'onPartialReply']],
  ] as const)(
    'is the default; as "%s" orders it, a piece of text is told so (callback order 5.1)',
    async (_, options, expected) => {
      const lab = replyLab(options);
      await lab.run(started, ...streamed(['Yes.']), ended);
      expect(lab.names().filter((name) => /Partial|assistant$/.test(name))).toEqual(expected);
    },
  );

  it('hands the text over before it is flushed', async () => {
    const events = [started, ...streamed(['Let me look.']).slice(0, -2), toolStart('1')];
    const order = (lab: ReturnType<typeof replyLab>) =>
      lab.names().filter((name) => /flush|Block/.test(name));
    for (const [order_, expected] of [
      [undefined, ['onBlockReply', 'flush']],
      ['openclaw', ['flush', 'onBlockReply']],
    ] as const) {
      const lab = replyLab({
        ...(order_ && { order: order_ }),
        onBlockReplyFlush: () => lab.calls.push(['flush']),
      });
      for (const event of events) void lab.replies.handle(event);
      await lab.replies.settled();
      expect(order(lab)).toEqual(expected);
    }
  });

  it('calls the compaction hook before the event', async () => {
    const lab = replyLab({ onBeforeCompaction: () => lab.calls.push(['before']) });
    await lab.run(started, compactionStart, compactionEnd(false), ended);
    expect(lab.names().slice(1, 3)).toEqual(['before', 'onAgentEvent compaction start']);
  });
});
