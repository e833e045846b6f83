import fc from 'fast-check';
import type { AssistantMessage, SessionEvent } from '../../../src/sdk/stream/index.js';
import { type BlockPlan, buildEvents, type SegmentPlan } from './build-events.js';
import type { ReplyProgram, ReplySetting } from './reply-program.js';
import { toolPlan } from './tool-plans.js';
import { blockText, calmText, finalText, thought } from './vocabulary.js';

/** How long the pieces are that a text comes in; taken in turn. */
const steps = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 });

function blockOf(text: fc.Arbitrary<string>): fc.Arbitrary<BlockPlan> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('text' as const), text, steps }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('thinking' as const), text: thought, steps }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('tool' as const), tool: fc.nat({ max: 3 }) }),
    },
  );
}

const usage = fc.constantFrom(
  undefined,
  { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10 },
  { input: 5, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 5 },
  { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
);

const ending = fc.constantFrom<Pick<AssistantMessage, 'stopReason' | 'errorMessage'>>(
  { stopReason: 'stop' },
  { stopReason: 'toolUse' },
  { stopReason: 'length' },
  { stopReason: 'aborted' },
  { stopReason: 'error', errorMessage: '429 rate limit exceeded' },
  { stopReason: 'error', errorMessage: 'something strange' },
  { stopReason: 'error' },
);

function segmentOf(text: fc.Arbitrary<string>): fc.Arbitrary<SegmentPlan> {
  const message = fc.record({
    kind: fc.constant('message' as const),
    blocks: fc.array(blockOf(text), { minLength: 1, maxLength: 3 }),
    isStreamed: often(6),
    ending,
    usage,
  });
  const tools = fc.record({
    kind: fc.constant('tools' as const),
    tools: fc.array(toolPlan, { minLength: 1, maxLength: 2 }),
  });
  const compaction = fc.record({
    kind: fc.constant('compaction' as const),
    willRetry: fc.boolean(),
    aborted: fc.boolean(),
    hasResult: fc.boolean(),
  });
  return fc.oneof(
    { weight: 5, arbitrary: message },
    { weight: 3, arbitrary: tools },
    { weight: 1, arbitrary: compaction },
  );
}

const chunking = fc.record(
  {
    minChars: fc.constantFrom(1, 5, 12, 30),
    maxChars: fc.constantFrom(10, 24, 60, 200),
    breakPreference: fc.constantFrom('paragraph' as const, 'newline' as const, 'sentence' as const),
    flushOnParagraph: fc.boolean(),
  },
  { requiredKeys: ['minChars', 'maxChars'] },
);

/** Any host. */
export const replySetting: fc.Arbitrary<ReplySetting> = fc
  .record({
    verboseLevel: fc.constantFrom('off' as const, 'on' as const, 'full' as const),
    reasoningMode: fc.constantFrom('off' as const, 'on' as const, 'stream' as const),
    blockReplyBreak: fc.constantFrom('text_end' as const, 'message_end' as const),
    blockReplyChunking: fc.option(chunking, { nil: undefined }),
    toolResultFormat: fc.constantFrom('markdown' as const, 'markdown' as const, 'plain' as const),
    flush: fc.constantFrom('absent' as const, 'sync' as const, 'async' as const),
    hasBlockReply: often(8),
    hasReasoningStream: often(8),
    throwing: fc.oneof(
      { weight: 12, arbitrary: fc.constant(undefined) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'onPartialReply',
          'onAgentEvent',
          'onToolResult',
          'onBlockReply',
          'onReasoningEnd',
          'onAssistantMessageStart',
        ),
      },
    ),
  })
  .map(({ blockReplyChunking, throwing, ...rest }) => ({
    ...rest,
    enforceFinalTag: false,
    ...(blockReplyChunking !== undefined && { blockReplyChunking }),
    ...(throwing !== undefined && { throwing }),
  }));

function programOf(
  text: fc.Arbitrary<string>,
  enforceFinalTag: boolean,
): fc.Arbitrary<ReplyProgram> {
  return fc
    .record({
      segments: fc.array(segmentOf(text), { minLength: 1, maxLength: 5 }),
      tools: fc.array(toolPlan, { minLength: 4, maxLength: 4 }),
      setting: replySetting,
      feed: fc.constantFrom('settled' as const, 'settled' as const, 'burst' as const),
    })
    .map(({ segments, tools, setting, feed }) => ({
      events: buildEvents(segments, tools),
      setting: { ...setting, enforceFinalTag },
      feed,
    }));
}

/** Any run whose events are in order, heard by a host with any setting. */
export const replyProgram: fc.Arbitrary<ReplyProgram> = fc.oneof(
  { weight: 9, arbitrary: programOf(blockText, false) },
  { weight: 1, arbitrary: programOf(finalText, true) },
);

/** A run whose events are not in order: some come twice, late, or not at all, and a text's end may say something else. */
export const unrulyProgram: fc.Arbitrary<ReplyProgram> = fc
  .record({
    program: programOf(calmText, false),
    faults: fc.array(
      fc.record({
        kind: fc.constantFrom(
          'drop' as const,
          'repeat' as const,
          'late' as const,
          'other-end' as const,
        ),
        at: fc.nat({ max: 60 }),
        by: fc.integer({ min: 1, max: 8 }),
        text: fc.constantFrom('Lima', 'Hello there my friend', 'and more.', ''),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ program, faults }) => {
    const events = [...program.events];
    for (const { kind, at, by, text } of faults) {
      const index = at % Math.max(1, events.length);
      const event = events[index];
      if (event === undefined) continue;
      if (kind === 'drop') events.splice(index, 1);
      else if (kind === 'repeat') events.splice(index + by, 0, event);
      else if (kind === 'late') events.splice(index + by, 0, ...events.splice(index, 1));
      else endDifferently(events, index, text);
    }
    return { ...program, setting: withoutThrowing(program.setting), events };
  });

/** The next end of a text from there on says something else. */
function endDifferently(events: SessionEvent[], from: number, text: string): void {
  const index = events.findIndex(
    (event, at) =>
      at >= from &&
      event.type === 'message_update' &&
      event.assistantMessageEvent.type === 'text_end',
  );
  const event = events[index];
  if (event?.type !== 'message_update' || event.assistantMessageEvent.type !== 'text_end') return;
  const { assistantMessageEvent: end } = event;
  events[index] = {
    ...event,
    assistantMessageEvent: { ...end, content: `${end.content}${text}`.trimStart() },
  };
}

function withoutThrowing({ throwing: _, ...setting }: ReplySetting): ReplySetting {
  return setting;
}

function often(of: number): fc.Arbitrary<boolean> {
  return fc.nat({ max: of - 1 }).map((n) => n > 0);
}
