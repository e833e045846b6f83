import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import type { FakeSession, RealModule } from './real-module.js';
import {
  plain,
  type ReplyProgram,
  type ReplyTrace,
  settle,
  type TraceEntry,
} from './reply-program.js';

let runs = 0;

/** Runs a program through the real subscription. */
export async function driveReal(real: RealModule, program: ReplyProgram): Promise<ReplyTrace> {
  const { setting, feed } = program;
  const calls: TraceEntry[] = [];
  const texts: number[] = [];
  let text = 0;
  const record = (name: string, payload?: unknown): void => {
    calls.push([name, plain(payload)]);
    texts.push(text);
  };
  let listener: (event: SessionEvent) => void = () => undefined;
  const session: FakeSession = {
    id: 'session',
    messages: [],
    sessionFile: '/nowhere',
    isCompacting: false,
    abortCompaction: () => undefined,
    subscribe(listen) {
      listener = listen;
      return () => undefined;
    },
  };
  const stop = real.onAgentEvent(({ stream, data }) => record('emitAgentEvent', { stream, data }));
  const hook = (hookName: string, name: string, fields: readonly string[]) => ({
    hookName,
    pluginId: 'parity',
    handler: (event: Readonly<Record<string, unknown>>) =>
      record(name, Object.fromEntries(fields.map((field) => [field, event[field]]))),
  });
  real.initializeGlobalHookRunner({
    typedHooks: [
      hook('before_compaction', 'onBeforeCompaction', []),
      hook('after_compaction', 'onAfterCompaction', ['compactedCount']),
    ],
    hooks: [],
    plugins: [],
  });
  const subscription = real.subscribeEmbeddedPiSession({
    session,
    runId: `parity-${runs++}`,
    sessionId: 'session',
    sessionKey: 'key',
    verboseLevel: setting.verboseLevel,
    reasoningMode: setting.reasoningMode,
    blockReplyBreak: setting.blockReplyBreak,
    ...(setting.blockReplyChunking && { blockReplyChunking: setting.blockReplyChunking }),
    toolResultFormat: setting.toolResultFormat,
    enforceFinalTag: setting.enforceFinalTag,
    hookRunner: {
      hasHooks: () => true,
      runAfterToolCall: async ({ runId: _, ...call }: Readonly<Record<string, unknown>>) =>
        record('onAfterToolCall', call),
    },
    ...hostCallbacks(setting, record),
  });
  for (const event of structuredClone(program.events)) {
    if (bordersText(event)) text++;
    try {
      listener(event);
    } catch (error) {
      if (setting.throwing === undefined) throw error;
    }
    if (feed === 'settled') await settle();
    if (bordersText(event)) text++;
  }
  await settle();
  stop();
  return { calls, texts, end: plain(endOf(subscription)) as ReplyTrace['end'] };
}

/** A text ends here, and another begins: with a message, and where the run is tried again. */
function bordersText(event: SessionEvent): boolean {
  if (event.type === 'auto_compaction_end') return event.willRetry;
  return event.type === 'message_start' || event.type === 'message_end';
}

/** The callbacks of a host that only writes down what it is called with. */
export function hostCallbacks(
  setting: ReplyProgram['setting'],
  record: (name: string, payload?: unknown) => void,
): Readonly<Record<string, (payload?: unknown) => unknown>> {
  const names = [
    'onAssistantMessageStart',
    'onPartialReply',
    'onReasoningEnd',
    'onToolResult',
    'onAgentEvent',
    ...(setting.hasBlockReply ? ['onBlockReply'] : []),
    ...(setting.hasReasoningStream ? ['onReasoningStream'] : []),
  ];
  const callbacks = names.map((name) => [
    name,
    (payload?: unknown) => {
      record(name, payload);
      if (setting.throwing === name) throw new Error(`${name} failed`);
    },
  ]);
  const flush = (): unknown => {
    record('onBlockReplyFlush');
    if (setting.flush === 'sync') return undefined;
    return new Promise<void>((resolve) => setImmediate(resolve)).then(() => record('flushed'));
  };
  return {
    ...Object.fromEntries(callbacks),
    ...(setting.flush !== 'absent' && { onBlockReplyFlush: flush }),
  };
}

/** What both sides know when a program is over. */
interface EndState {
  readonly assistantTexts: readonly string[];
  readonly toolMetas: readonly unknown[];
  getUsageTotals(): unknown;
  getLastToolError(): unknown;
  getCompactionCount(): number;
  getMessagingToolSentTexts(): unknown;
  getMessagingToolSentMediaUrls(): unknown;
  getMessagingToolSentTargets(): unknown;
  didSendViaMessagingTool(): boolean;
  didSendDeterministicApprovalPrompt(): boolean;
  isCompacting(): boolean;
  isCompactionInFlight(): boolean;
}

export function endOf(state: EndState): Record<string, unknown> {
  return {
    assistantTexts: state.assistantTexts,
    toolMetas: state.toolMetas,
    usage: state.getUsageTotals(),
    lastToolError: state.getLastToolError(),
    compactions: state.getCompactionCount(),
    sentTexts: state.getMessagingToolSentTexts(),
    sentMedia: state.getMessagingToolSentMediaUrls(),
    sentTargets: state.getMessagingToolSentTargets(),
    didSend: state.didSendViaMessagingTool(),
    didAskApproval: state.didSendDeterministicApprovalPrompt(),
    isCompacting: state.isCompacting(),
    isCompactionInFlight: state.isCompactionInFlight(),
  };
}
