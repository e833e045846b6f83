import type { LegacyDivergenceName, LegacyHookName } from '../../src/openclaw/index.js';
import type { ParityDifference } from '../../src/openclaw/parity/index.js';
import { type Fields, type HandlerSpec, type HookSet, untrustedPlugin } from './hooks/hook-set.js';
import { itsWords } from './model/failure.js';

/** The smallest set that a divergence concerns, and exactly what then differs. */
export interface DivergenceExample {
  readonly set: HookSet;
  readonly differences: readonly ParityDifference[];
  /** What nobody observed there; nothing is ever left here. */
  readonly unhandled?: readonly string[];
}

const events: Partial<Record<LegacyHookName, Fields>> = {
  before_model_resolve: { prompt: 'p' },
  before_prompt_build: { prompt: 'p', messages: [] },
  message_sending: { to: 'C1', content: 'hi' },
  before_tool_call: { toolName: 'exec', params: {} },
  tool_result_persist: { message: { role: 'toolResult', content: 'raw' } },
  before_message_write: { message: { role: 'user', content: 'raw' } },
  subagent_spawning: { childSessionKey: 'c', agentId: 'a', mode: 'run', threadRequested: true },
  subagent_delivery_target: {
    childSessionKey: 'c',
    requesterSessionKey: 'r',
    expectsCompletionMessage: true,
  },
  agent_end: { messages: [], success: true },
};

const contexts: Partial<Record<LegacyHookName, Fields>> = {
  message_sending: { channelId: 'slack' },
  before_tool_call: { toolName: 'exec' },
};

type Handler = Partial<HandlerSpec>;

const answers = (value: unknown, more: Handler = {}): Handler => ({
  ends: { returns: value },
  timing: 'async',
  ...more,
});

function setOf(hook: LegacyHookName, ...handlers: readonly Handler[]): HookSet {
  const plain = { pluginId: 'p', release: 0, writes: [], ends: { returns: undefined } } as const;
  return {
    hook,
    event: events[hook] ?? {},
    ctx: contexts[hook] ?? {},
    handlers: handlers.map((one) => ({ ...plain, timing: 'async', ...one })),
    catchErrors: true,
  };
}

/** A line that only one side writes moves what comes after it. */
const told = (hook: LegacyHookName, problem: string) =>
  `[hooks] ${hook} handler from p failed: ${problem}`;

const calledWith = (hook: LegacyHookName, handler: number): unknown => ({
  handler,
  pluginId: 'p',
  event: events[hook] ?? {},
  ctx: contexts[hook] ?? {},
  isHostsEvent: true,
  isAtOnce: false,
});

const differs = (path: string, legacy: unknown, pipeline: unknown): ParityDifference => ({
  path,
  legacy,
  pipeline,
});

/** A divergence of profile 2026.3. */
export type Example = Exclude<
  LegacyDivergenceName,
  'odd-error-is-a-text' | 'reply-text-alone-counts'
>;

/** One example per divergence of profile 2026.3. Beside it the model says where each of them applies to generated sets. */
export const divergences: Readonly<Record<Example, DivergenceExample>> = {
  'cancel-is-terminal': {
    set: setOf('message_sending', answers({ cancel: true }), answers({ cancel: false })),
    differences: [
      differs('result.cancel', false, true),
      differs('calls[1]', calledWith('message_sending', 1), undefined),
      differs('order[2]', 'call 1', 'returned'),
      differs('order[3]', 'returned', undefined),
    ],
  },
  'ties-across-plugins': {
    set: setOf(
      'message_sending',
      { ...answers({ content: 'z' }), pluginId: 'z' },
      answers({ content: 'p' }),
    ),
    differences: [
      differs('result.content', 'p', 'z'),
      differs('calls[0].handler', 0, 1),
      differs('calls[0].pluginId', 'z', 'p'),
      differs('calls[1].handler', 1, 0),
      differs('calls[1].pluginId', 'p', 'z'),
      differs('order[1]', 'call 0', 'call 1'),
      differs('order[2]', 'call 1', 'call 0'),
    ],
  },
  'priority-must-be-finite': {
    set: setOf('message_sending', answers({ content: 'x' }, { priority: Number.NaN })),
    differences: [
      differs('result', { content: 'x' }, undefined),
      differs(
        'calls[0]',
        { ...(calledWith('message_sending', 0) as Fields), isAtOnce: true },
        undefined,
      ),
      differs(
        'log[0]',
        { level: 'debug', text: '[hooks] running message_sending (1 handlers, sequential)' },
        undefined,
      ),
      differs(
        'order[0]',
        'debug [hooks] running message_sending (1 handlers, sequential)',
        'returned',
      ),
      differs('order[1]', 'call 0', undefined),
      differs('order[2]', 'returned', undefined),
    ],
  },
  'late-rejection-is-observed': {
    set: setOf('before_message_write', { ends: { throws: 'error' } }),
    differences: [],
    unhandled: ['Error: boom'],
  },
  'refused-output': {
    set: setOf('message_sending', answers({ content: 42 })),
    differences: [
      differs('result', { content: 42 }, undefined),
      differs('log[1]', undefined, { level: 'error', text: told('message_sending', itsWords) }),
      differs('order[2]', 'returned', `error ${told('message_sending', itsWords)}`),
      differs('order[3]', undefined, 'returned'),
    ],
  },
  'system-prompt-needs-trust': {
    set: setOf(
      'before_prompt_build',
      answers({ systemPrompt: 's', prependContext: 'c' }, { pluginId: untrustedPlugin }),
    ),
    differences: [
      differs('result.systemPrompt', 's', undefined),
      differs('log[1]', undefined, {
        level: 'error',
        text: `[hooks] before_prompt_build handler from ${untrustedPlugin} failed: ${itsWords}`,
      }),
      differs(
        'order[2]',
        'returned',
        `error [hooks] before_prompt_build handler from ${untrustedPlugin} failed: ${itsWords}`,
      ),
      differs('order[3]', undefined, 'returned'),
    ],
  },
  'tool-params-merge-by-key': {
    set: setOf(
      'before_tool_call',
      answers({ params: { a: 1, b: 1 } }),
      answers({ params: { b: 2 } }),
    ),
    differences: [differs('result.params.a', undefined, 1)],
  },
  'hanging-handler-is-cut': {
    set: setOf('message_sending', { timing: 'never' }, answers({ content: 'x' })),
    differences: [
      differs('pending', true, undefined),
      differs('calls[1]', undefined, calledWith('message_sending', 1)),
      differs('log[1]', undefined, { level: 'error', text: told('message_sending', itsWords) }),
      differs('order[2]', undefined, 'call 1'),
      differs('order[3]', undefined, `error ${told('message_sending', itsWords)}`),
      differs('order[4]', undefined, 'returned'),
      differs('result', undefined, { content: 'x' }),
    ],
  },
  'answers-at-once-share-a-tick': {
    set: setOf('message_sending', answers({ content: 'x' }, { timing: 'now' }), {}),
    differences: [differs('calls[1].isAtOnce', false, true)],
  },
  'unreadable-error-is-told': {
    set: setOf('agent_end', { ends: { throws: 'unreadable' } }),
    differences: [
      differs(
        'thrown',
        { message: 'Cannot convert object to primitive value', cause: undefined },
        undefined,
      ),
      differs('log[1]', undefined, {
        level: 'error',
        text: told('agent_end', 'an error that cannot be read'),
      }),
      differs('order[2]', 'threw', `error ${told('agent_end', 'an error that cannot be read')}`),
      differs('order[3]', undefined, 'returned'),
    ],
  },
  'null-field-is-left-out': {
    set: setOf('message_sending', answers({ content: null })),
    differences: [differs('result.content', null, undefined)],
  },
  'empty-text-adds-nothing': {
    set: setOf(
      'before_prompt_build',
      answers({ prependContext: 'one' }),
      answers({ prependContext: '' }),
    ),
    differences: [differs('result.prependContext', '', 'one')],
  },
  'spawn-answers-in-one-form': {
    set: setOf('subagent_spawning', answers({ status: 'error', threadBindingReady: true })),
    differences: [
      differs('result.threadBindingReady', true, undefined),
      differs('result.error', undefined, 'binding-failed'),
    ],
  },
  'extra-fields-of-several-answers': {
    set: setOf(
      'subagent_delivery_target',
      answers({ origin: { to: 'C1' }, extra: 1 }),
      answers({ origin: { to: 'C2' } }),
    ),
    differences: [differs('result.extra', 1, undefined)],
  },
  'unfit-origin-is-no-candidate': {
    set: setOf('subagent_delivery_target', answers({ origin: {} })),
    differences: [differs('result.origin', {}, undefined)],
  },
};
