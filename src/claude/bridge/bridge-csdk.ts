import type { SessionEvent } from '@sluice/sdk/stream';
import type { Kernel } from 'sluice-kernel';
import { csdkError } from '../errors.js';
import type { CallbackQueue } from '../frames/callback.js';
import type { CsdkFrame } from '../frames/frame.js';
import type { CsdkPermissionAnswer, CsdkPermissionOptions } from '../gate/sdk-callbacks.js';
import { type CsdkToolGate, toolGate } from '../gate/tool-gate.js';
import type { BridgeOptions } from './bridge-options.js';
import { BridgedRun } from './bridged-run.js';

/** A run that can only be watched, on its way into the pipeline. */
export interface ObservingBridge {
  /**
   * Reads the run, once. Each session event is yielded after the pipeline has had it; whatever ends the run,
   * `agent.completed` is dispatched once. Who stops reading early abandons the run: it is told as aborted.
   *
   * @throws SluiceError `run-driven`, also where it was read before. What the session's `append` throws.
   */
  run(messages: AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>): AsyncGenerator<SessionEvent>;
}

/** A run of a live query, on its way into the pipeline. */
export interface CsdkBridge<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
> extends ObservingBridge,
    CsdkToolGate<Options, Answer> {
  /** The queue in which the host's own hooks tell their calls. */
  readonly callbacks: Pick<CallbackQueue, 'push'>;
}

/**
 * Feeds one run of the SDK that no agent turn drives into the pipeline: its start and end, deltas, tool calls,
 * transcript writes, compactions and subagents, each fact once, in the order of seed 001. With `canUseTool` and
 * `hooks` in the query's options, `agent.tool.calling` and `subagent.spawning` are real gates: a veto denies the call
 * with its reason, a patch becomes its input. A recorded run has `gate: 'observe-only'`, and `run` alone.
 *
 * Inside `runAgentTurn` the turn is the dispatcher: a provider there yields session events and asks `request.gate`
 * (see `toolGate`). A run that a turn or another bridge drives is refused.
 *
 * @throws SluiceError `run-driven`; `bad-sdk-questions`.
 * @example
 * const bridge = bridgeCsdk(kernel, { session, runId, prompt });
 * const { canUseTool, hooks } = bridge;
 * for await (const event of bridge.run(query({ prompt, options: { canUseTool, hooks } }))) show(event);
 */
export function bridgeCsdk(
  kernel: Kernel,
  options: BridgeOptions & { readonly gate: 'observe-only' },
): ObservingBridge;
export function bridgeCsdk<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
>(kernel: Kernel, options: BridgeOptions<Options, Answer>): CsdkBridge<Options, Answer>;
export function bridgeCsdk<
  Options extends CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null,
>(
  kernel: Kernel,
  { permissions, ...options }: BridgeOptions<Options, Answer>,
): CsdkBridge<Options, Answer> | ObservingBridge {
  const bridged = new BridgedRun(kernel, options);
  const { callbacks } = bridged;
  const run: ObservingBridge['run'] = (messages) => bridged.events(messages);
  if (options.gate === 'observe-only') {
    const sdkQuestions = permissions?.sdkQuestions ?? 'none';
    if (sdkQuestions === 'none') return { run };
    throw csdkError('bad-sdk-questions', { sdkQuestions, problem: 'the bridge only observes' });
  }
  const gate = toolGate((...asked) => bridged.ask(...asked), callbacks, {
    ...permissions,
    onInput: (...call) => bridged.runsWith(...call),
  });
  return { ...gate, run, callbacks };
}
