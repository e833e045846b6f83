import { describe, expectTypeOf, it } from 'vitest';
import type {
  AgentAnswer,
  AgentEventPayload,
  AgentEventStream,
  AgentProvider,
  AgentTrigger,
  StreamDelta,
} from '../../src/openclaw/gateway/index.js';
import type { ChannelCapabilities, ChannelPlugin } from '../../src/sdk/channel/index.js';
import type { StreamSender } from '../../src/sdk/stream/index.js';

type Of<Phase extends StreamDelta['phase']> = Extract<StreamDelta, { phase: Phase }>;

/** Compiles, and is never run. */
const compiles = (_body: () => unknown): void => undefined;

describe('a stream delta (seed 003, task 1.1)', () => {
  it('has one of four phases, each with its own fields and no more', () => {
    expectTypeOf<Of<'thinking'>>().toEqualTypeOf<{
      phase: 'thinking';
      thinking: string;
      thinkingElapsedMs: number;
    }>();
    expectTypeOf<Of<'content'>>().toEqualTypeOf<{
      phase: 'content';
      content: string;
      thinking?: string;
      thinkingDurationMs?: number;
    }>();
    expectTypeOf<Of<'final'>>().toEqualTypeOf<{
      phase: 'final';
      content: string;
      thinking?: string;
      thinkingDurationMs?: number;
    }>();
    expectTypeOf<Of<'error'>>().toEqualTypeOf<{ phase: 'error'; error: string }>();
  });

  it('is narrowed by its phase, to the last one', () => {
    const shown = (delta: StreamDelta): string => {
      if (delta.phase === 'thinking') return delta.thinking;
      switch (delta.phase) {
        case 'content':
        case 'final':
          return delta.content;
        case 'error':
          return delta.error;
        default:
          return delta satisfies never;
      }
    };
    expectTypeOf(shown).returns.toEqualTypeOf<string>();
  });

  it('does not give a field of another phase away', () => {
    compiles(() => {
      const delta = {} as StreamDelta;
      // @ts-expect-error only a thinking delta has an elapsed time
      return delta.thinkingElapsedMs;
    });
    compiles((): StreamDelta => {
      // @ts-expect-error a content delta has its content
      return { phase: 'content', thinking: 'hm' };
    });
  });
});

describe('an agent event of the gateway (seed 003, task 1.1)', () => {
  it('has the fields of the seed', () => {
    expectTypeOf<AgentEventStream>().toEqualTypeOf<
      'lifecycle' | 'tool' | 'assistant' | 'thinking' | 'error'
    >();
    expectTypeOf<AgentEventPayload>().toEqualTypeOf<{
      runId: string;
      seq: number;
      stream: AgentEventStream;
      ts: number;
      data: Record<string, unknown>;
      sessionKey?: string;
    }>();
  });
});

describe('a stream sender (seed 003, task 2.1)', () => {
  it('has a method for each phase, and one to take back', () => {
    expectTypeOf<keyof StreamSender>().toEqualTypeOf<
      'onThinkingDelta' | 'onContentDelta' | 'onFinal' | 'onError' | 'abort'
    >();
    const drive = (sender: StreamSender, delta: StreamDelta): Promise<void> => {
      switch (delta.phase) {
        case 'thinking':
          return sender.onThinkingDelta(delta);
        case 'content':
          return sender.onContentDelta(delta);
        case 'final':
          return sender.onFinal(delta);
        case 'error':
          return sender.onError(delta);
      }
    };
    expectTypeOf(drive).returns.toEqualTypeOf<Promise<void>>();
    compiles(() => {
      const sender = {} as StreamSender;
      // @ts-expect-error an error is nothing to show as the final
      return sender.onFinal({ phase: 'error', error: 'no' });
    });
    expectTypeOf<StreamSender['abort']>().toEqualTypeOf<() => Promise<void>>();
  });

  it('is optional, as is the capability', () => {
    expectTypeOf<ChannelCapabilities['canStreamResponse']>().toEqualTypeOf<boolean | undefined>();
    compiles((): Pick<ChannelPlugin, 'createStreamSender'> => ({}));
  });
});

describe('an agent provider (seed 003, task 1.1)', () => {
  it('may stream, and may answer whole', () => {
    expectTypeOf<NonNullable<AgentProvider['triggerStream']>>().toEqualTypeOf<
      (context: AgentTrigger) => AsyncGenerator<StreamDelta>
    >();
    expectTypeOf<NonNullable<AgentProvider['trigger']>>().returns.toEqualTypeOf<
      Promise<AgentAnswer>
    >();
    compiles((): Pick<AgentProvider, 'trigger' | 'triggerStream'> => ({}));
  });
});
