import {
  type BridgeOptions,
  bridgeCsdk,
  type CsdkBridge,
  type CsdkFrame,
} from '../../src/claude/index.js';
import type { FamilyName, Kernel, Outcome } from '../../src/kernel/internal.js';
import type { SessionEvent, TranscriptEntry } from '../../src/sdk/stream/index.js';
import { createTestKernel, type TestKernel } from '../../src/testing/index.js';
import { outcomesOf } from './outcomes-of.js';

/** What a scripted query says: its frames, and calls of the SDK's callbacks between them. */
export type Script = (sdk: SdkSide) => AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>;

/** The SDK's end of a bridge: what it calls, as the SDK calls it. */
export interface SdkSide {
  readonly bridge: CsdkBridge;
  /** Calls a hook, and gives its output. */
  hook(event: string, fields?: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>;
  /** Calls PreToolUse for a call. */
  pre(id: string, name: string, input: unknown, fields?: Record<string, unknown>): Promise<unknown>;
  /** Calls canUseTool. */
  permit(
    id: string,
    name: string,
    input: Record<string, unknown>,
    fields?: Record<string, unknown>,
  ): Promise<unknown>;
}

export interface BridgeLab extends TestKernel {
  readonly events: readonly SessionEvent[];
  readonly written: readonly TranscriptEntry[];
  families(): readonly FamilyName[];
  of<F extends FamilyName>(family: F): readonly Outcome<F>[];
}

export interface BridgeLabOptions extends Partial<BridgeOptions> {
  readonly contribute?: (kernel: Kernel) => void;
  /** What each event is followed by. */
  readonly onEvent?: (event: SessionEvent) => unknown;
}

export const bridgedSession = { agentId: 'main', sessionKey: 'agent:main', sessionId: 's-1' };

/** Bridges a scripted run to its end. */
export async function bridged(
  script: Script | readonly CsdkFrame[],
  { contribute, onEvent, ...options }: BridgeLabOptions = {},
): Promise<BridgeLab> {
  const test = createTestKernel();
  contribute?.(test.kernel);
  const written: TranscriptEntry[] = [];
  const bridge = bridgeCsdk(test.kernel, {
    session: { ...bridgedSession, history: [], append: (message) => void written.push(message) },
    runId: 'r-1',
    prompt: 'hello',
    clock: test.clock,
    logger: test.log,
    ...options,
  });
  const events: SessionEvent[] = [];
  const messages = typeof script === 'function' ? script(sdkSide(bridge)) : script;
  for await (const event of bridge.run(messages)) {
    events.push(event);
    await onEvent?.(event);
  }
  return {
    ...test,
    events,
    written,
    families: () => test.outcomes.map(({ event }) => event.family),
    of: (family) => outcomesOf(test.outcomes, family),
  };
}

/** The SDK's end of a bridge. */
export function sdkSide(bridge: CsdkBridge): SdkSide {
  const never = new AbortController().signal;
  const hook: SdkSide['hook'] = async (event, fields = {}, signal = never) => {
    const matchers = bridge.hooks[event as keyof typeof bridge.hooks];
    const input = { hook_event_name: event, session_id: 'sdk', ...fields };
    const toolUseId = fields.tool_use_id as string | undefined;
    return matchers[0]?.hooks[0]?.(input, toolUseId, { signal });
  };
  return {
    bridge,
    hook,
    pre: (id, name, input, fields) =>
      hook('PreToolUse', { tool_name: name, tool_input: input, tool_use_id: id, ...fields }),
    permit: (id, name, input, fields) =>
      bridge.canUseTool(name, input, { signal: never, toolUseID: id, requestId: id, ...fields }),
  };
}

type Fields = Record<string, unknown>;

let uuid = 0;
const frame = (type: string, fields: Fields): CsdkFrame => ({
  type,
  uuid: `u-${++uuid}`,
  session_id: 'sdk',
  ...fields,
});

/** Frames as the SDK makes them, each with a uuid of its own. */
export const frames = {
  init: (fields: Fields = {}) => frame('system', { subtype: 'init', model: 'opus', ...fields }),
  system: (subtype: string, fields: Fields = {}) => frame('system', { subtype, ...fields }),
  says: (id: string, content: readonly unknown[], fields: Fields = {}) =>
    frame('assistant', {
      message: { id, model: 'opus', role: 'assistant', content, stop_reason: null },
      parent_tool_use_id: null,
      ...fields,
    }),
  text: (id: string, text: string, fields: Fields = {}) =>
    frames.says(id, [{ type: 'text', text }], fields),
  call: (id: string, name: string, input: Fields = {}, fields: Fields = {}) =>
    frames.says(`m-${id}`, [{ type: 'tool_use', id, name, input }], fields),
  answer: (id: string, content: unknown, fields: Fields = {}, isError = false) =>
    frame('user', {
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }],
      },
      parent_tool_use_id: null,
      ...fields,
    }),
  result: (fields: Fields = {}) =>
    frame('result', { subtype: 'success', is_error: false, result: '', ...fields }),
};
