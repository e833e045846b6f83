import { describe, expectTypeOf, it } from 'vitest';
import type {
  CoderDone,
  CoderMessage,
  CoderStreamEvent,
  CoderToolResult,
  CoderUsage,
} from '../../src/claude/coder/blocks/coder-event.js';
import { coderStream } from '../../src/claude/coder/coder-stream.js';
import { toCoderEvents } from '../../src/claude/coder/to-coder-events.js';

type Of<Type extends CoderStreamEvent['type']> = Extract<CoderStreamEvent, { type: Type }>;

/** Compiles, and is never run. */
const compiles = (_body: () => unknown): void => undefined;

describe('a coder event (C1)', () => {
  it('has one of twelve types, each with its own fields', () => {
    expectTypeOf<CoderStreamEvent['type']>().toEqualTypeOf<
      | 'init'
      | 'message'
      | 'tool_use'
      | 'tool_result'
      | 'progress'
      | 'permission'
      | 'file_change'
      | 'plan_update'
      | 'usage'
      | 'error'
      | 'cancelled'
      | 'done'
    >();
    expectTypeOf<Of<'message'>>().toEqualTypeOf<CoderMessage>();
    expectTypeOf<Of<'tool_result'>>().toEqualTypeOf<CoderToolResult>();
    expectTypeOf<Of<'done'>>().toEqualTypeOf<CoderDone>();
    expectTypeOf<CoderToolResult['name']>().toEqualTypeOf<string>();
    expectTypeOf<CoderToolResult['exitCode']>().toEqualTypeOf<number | null | undefined>();
    expectTypeOf<Of<'error'>['message']>().toEqualTypeOf<string>();
    expectTypeOf<Of<'file_change'>['op']>().toEqualTypeOf<
      'create' | 'modify' | 'delete' | 'rename' | undefined
    >();
    expectTypeOf<NonNullable<CoderUsage['stats']>['inputTokens']>().toEqualTypeOf<
      number | undefined
    >();
  });

  it('has a provider, a time and its original whatever its type', () => {
    expectTypeOf<CoderStreamEvent['provider']>().toEqualTypeOf<'codex' | 'gemini' | 'claude'>();
    expectTypeOf<CoderStreamEvent['ts']>().toEqualTypeOf<number>();
    expectTypeOf<CoderStreamEvent['originalItem']>().toEqualTypeOf<unknown>();
  });

  it('is narrowed by its type, to the last one', () => {
    const spoken = (event: CoderStreamEvent): string | undefined => {
      switch (event.type) {
        case 'message':
        case 'plan_update':
          return event.text;
        case 'tool_use':
        case 'tool_result':
          return event.name;
        case 'init':
          return event.threadId;
        case 'progress':
          return event.label;
        case 'permission':
          return event.decision;
        case 'file_change':
          return event.path;
        case 'error':
          return event.message;
        case 'usage':
        case 'cancelled':
        case 'done':
          return undefined;
        default:
          return event satisfies never;
      }
    };
    expectTypeOf(spoken).returns.toEqualTypeOf<string | undefined>();
  });

  it('does not give a field of another type away', () => {
    compiles(() => {
      const event = {} as CoderStreamEvent;
      // @ts-expect-error only messages and plans have a text
      return event.text;
    });
    compiles((): CoderStreamEvent => {
      // @ts-expect-error an error has a message
      return { type: 'error', provider: 'claude', ts: 0 };
    });
  });

  it('is what both functions give', () => {
    expectTypeOf(toCoderEvents).returns.toEqualTypeOf<CoderStreamEvent[]>();
    expectTypeOf(coderStream).returns.toEqualTypeOf<AsyncGenerator<CoderStreamEvent>>();
  });
});
