import { isDeepStrictEqual } from 'node:util';
import type { ToolCall, ToolDecision, ToolGate } from '@sluice/sdk/stream';
import { definedFields, onAbort, oneLine } from 'sluice-kernel/internal';
import type { CallbackQueue, CsdkCallback } from '../frames/callback.js';

type Told = Pick<
  Extract<CsdkCallback, { kind: 'permission_decision' }>,
  'decision' | 'message' | 'updatedInput'
>;

interface Asked {
  /** As the stream was told of it, by the permission_request. */
  readonly call: ToolCall;
  readonly decision: Promise<ToolDecision>;
  /** Its permission_decision has been pushed. */
  isTold: boolean;
}

/** The tool calls of one query that the SDK has asked about: each is judged once, and told of once. */
export function askedCalls(gate: ToolGate, callbacks: CallbackQueue) {
  const askedCalls = new Map<string, Asked>();

  return {
    /** A call that the gate was asked about, as the stream was told of it: the SDK may ask again with another input. */
    told: (toolCallId: string): ToolCall | undefined => askedCalls.get(toolCallId)?.call,

    /** The decision about a call, asked for at most once. An asker whose own signal aborts gets a refusal. */
    decide(call: ToolCall, signal: AbortSignal, requestId?: string): Promise<ToolDecision> {
      const known = askedCalls.get(call.toolCallId);
      if (known !== undefined) {
        const isAsked = call.question !== undefined;
        return orAborted(isAsked ? judge(gate, call, signal) : known.decision, signal);
      }
      callbacks.push({ kind: 'permission_request', input: call.args, ...named(call, requestId) });
      const decision = judge(gate, call, signal).then((decided) => {
        // A judgement that was aborted is none: when the SDK asks again, the gate is asked again.
        if (signal.aborted) askedCalls.delete(call.toolCallId);
        return decided;
      });
      askedCalls.set(call.toolCallId, { call, decision, isTold: false });
      return orAborted(decision, signal);
    },

    /** Tells what became of a call, the first time. */
    report(call: ToolCall, told: Told, requestId?: string): void {
      const asked = askedCalls.get(call.toolCallId);
      if (asked?.isTold === true) return;
      if (asked !== undefined) asked.isTold = true;
      callbacks.push({ kind: 'permission_decision', ...told, ...named(call, requestId) });
    },
  };
}

/** The parts of `askedCalls` that others use. */
export type AskedCalls = ReturnType<typeof askedCalls>;

/** The changed input of a tool; nothing if its input stays. */
export function changedInput(
  call: ToolCall,
  args: Readonly<Record<string, unknown>>,
): { readonly updatedInput?: Record<string, unknown> } {
  return isDeepStrictEqual(args, call.args) ? {} : { updatedInput: { ...args } };
}

function named({ toolCallId, toolName, subagentId }: ToolCall, requestId: string | undefined) {
  const whose = definedFields({ agentId: subagentId, requestId });
  return { toolUseId: toolCallId, toolName, ...whose };
}

/** A gate promises not to reject; one that does all the same refuses. */
async function judge(gate: ToolGate, call: ToolCall, signal: AbortSignal): Promise<ToolDecision> {
  try {
    return await gate(call, signal);
  } catch (error) {
    return { allowed: false, reason: `the call could not be judged: ${oneLine(error)}` };
  }
}

function orAborted(decision: Promise<ToolDecision>, signal: AbortSignal): Promise<ToolDecision> {
  return new Promise((resolve) => {
    const aborted = { allowed: false, reason: 'the request was aborted' } as const;
    const listening = onAbort(signal, () => resolve(aborted));
    void decision.then(resolve).finally(() => listening[Symbol.dispose]());
  });
}
