import { untilCut } from '@sluice/agent/internal';
import {
  type AgentProvider,
  type AgentRequest,
  leavable,
  promptText,
  type SessionEvent,
} from '@sluice/sdk/stream';
import {
  type Clock,
  deferred,
  definedFields,
  onAbort,
  silentLogger,
  systemClock,
  Timer,
} from 'sluice-kernel/internal';
import { JudgedOutputs } from '../gate/judged-outputs.js';
import {
  type CallbackQueue,
  type CsdkFrame,
  callbackQueue,
  normalizeSession,
  subagentOf,
} from '../index.js';
import { rememberedFrames } from './claude-frames.js';
import { ClaudeMemory, type Recalled } from './claude-memory.js';
import { type ClaudeProviderOptions, checkClaudeOptions } from './claude-options.js';
import { claudeQueryOptions } from './claude-query.js';
import { type ClaudeQuery, type ClaudeRun, loadClaudeSdk } from './claude-sdk.js';
import { claudeOwnTools, plainFrame } from './claude-tools.js';

/**
 * Claude, with its tools: each turn is one `query()` of `@anthropic-ai/claude-agent-sdk`, which has to be installed
 * beside this package, and finds its key or its login in the environment. Every tool call, of subagents too, passes
 * `request.gate` before it runs.
 *
 * The turns of a session go on with one session of the SDK, also after a restart, if the turn's session keeps what the
 * provider gives it. The part that the SDK's session has not heard (another provider answered meanwhile) or does not hold any more (its
 * file is gone) stands as text before the prompt. A run ends when its background tasks have:
 * what the model says of them belongs to the answer.
 *
 * Unless `sdk` says otherwise, no settings file is read (`settingSources: []`), prompts are taken as they are
 * written (`verbatimPrompts`), and tools that need a person at a terminal are left out.
 *
 * @throws SluiceError `reserved-option`. A run throws `missing-package` where the SDK is not installed.
 * @example
 * const provider = claudeProvider({ models: ['sonnet'], cwd: '/srv/project', sdk: { maxTurns: 20 } });
 */
export function claudeProvider(options: ClaudeProviderOptions = {}): AgentProvider {
  checkClaudeOptions(options);
  const memory = new ClaudeMemory();
  const enter = claudeTurns();
  let query = options.query;
  const load = async (): Promise<ClaudeQuery> => {
    query ??= await loadClaudeSdk(options.cwd);
    return query;
  };
  return {
    id: 'claude',
    models: options.models ?? ['default', 'opus', 'sonnet', 'haiku'],
    toolGate: 'enforce',
    ownTools: claudeOwnTools,
    subagentOf,
    run(request) {
      /** Ends the process. */
      const stop = new AbortController();
      /** The reader has an event, so a query that it leaves can end by itself. */
      let isRead = false;
      return leavable(answer(), {
        close: () => {
          if (!isRead) stop.abort();
        },
      });

      async function* answer(): AsyncGenerator<SessionEvent, void> {
        const { runId, sessionId } = request;
        const { clock = systemClock, logger = silentLogger } = options;
        let run: ClaudeRun | undefined;
        using _stopping = interruptFirst(request, stop, clock, () => run);
        const callbacks = callbackQueue();
        const outputs = new JudgedOutputs(request.toolReturning);
        const onResult = outputs.judge.bind(outputs);
        const leave = await enter(sessionId, stop.signal);
        try {
          const query = await load();
          const ask = (recalled: Recalled): ClaudeRun => {
            run = query({
              prompt: promptText(request, recalled.unheard),
              options: claudeQueryOptions(request, options, recalled, callbacks, stop, onResult),
            });
            return run;
          };
          const frames = (): AsyncIterable<CsdkFrame> =>
            options.memory === 'history'
              ? ask({ unheard: request.history })
              : rememberedFrames({ request, memory, logger, ask });
          const check = checking(outputs, memory, request);
          const events = normalizeSession(endedBy(frames, request, stop, check), {
            callbacks,
            onSubagent: request.tell,
            idleTimeoutMs: options.idleTimeoutMs ?? 600_000,
            signal: stop.signal,
            runId,
            sessionId,
            ...definedFields({ clock: options.clock, logger: options.logger }),
          });
          for await (const event of events) {
            isRead = true;
            yield event;
            isRead = false;
          }
        } finally {
          try {
            await release(run, callbacks);
          } finally {
            leave();
          }
        }
      }
    },
  };
}

/**
 * Stops a query when its request is: it is interrupted first, so that open tool calls are answered by the SDK itself and the
 * SDK writes down what was said. Most of the grace later, its process is ended.
 */
function interruptFirst(
  { signal, graceMs = 1_000 }: AgentRequest,
  stop: AbortController,
  clock: Clock,
  current: () => ClaudeRun | undefined,
): Disposable {
  const timer = new Timer(clock);
  const end = (): void => stop.abort(signal.reason);
  const listening = onAbort(signal, () => {
    const run = current();
    if (run?.interrupt === undefined) return end();
    timer.set(graceMs * 0.75, end);
    run.interrupt().catch(end);
  });
  return {
    [Symbol.dispose]: () => {
      listening[Symbol.dispose]();
      timer.clear();
    },
  };
}

/**
 * The frames of a query, with the names of tools that handlers know. The query begins when the first frame is wanted: never
 * for a request that was stopped before. When a request is stopped later, the next result is the last frame: nothing in the
 * background is waited for.
 */
async function* endedBy(
  frames: () => AsyncIterable<CsdkFrame>,
  { signal, tools }: AgentRequest,
  stop: AbortController,
  check: (frame: CsdkFrame) => CsdkFrame,
): AsyncGenerator<CsdkFrame, void> {
  for await (const given of frames()) {
    const frame = check(given);
    yield tools === undefined ? frame : plainFrame(frame);
    if (frame.type === 'result' && signal.aborted) stop.abort(signal.reason);
  }
}

/** Reads frames. A session of the SDK that has a result as it was before it was judged is not gone on with. */
function checking(outputs: JudgedOutputs, memory: ClaudeMemory, request: AgentRequest) {
  return (frame: CsdkFrame): CsdkFrame => {
    try {
      return outputs.check(frame);
    } catch (error) {
      memory.forget(request);
      request.keepSession('');
      throw error;
    }
  };
}

/** Ends the query, also where its frames were never read; resolves when its process has gone. */
async function release(run: ClaudeRun | undefined, callbacks: CallbackQueue): Promise<void> {
  callbacks.close();
  run?.close();
  await run?.return();
}

/**
 * One turn at a time for each session: the SDK goes on writing a session down for a moment after a turn was
 * stopped, and a turn that resumes it before that would not find what was said.
 */
function claudeTurns() {
  const last = new Map<string, Promise<void>>();

  /**
   * Waits until the turn before has let go, or the signal aborts.
   *
   * @returns the function that lets go of this turn. The caller has to call it, whatever happens.
   */
  return async (sessionId: string, signal: AbortSignal): Promise<() => void> => {
    const before = last.get(sessionId);
    const { promise: gone, resolve } = deferred();
    last.set(sessionId, gone);
    if (before !== undefined) await untilCut(before, signal);
    return () => {
      if (last.get(sessionId) === gone) last.delete(sessionId);
      resolve();
    };
  };
}
