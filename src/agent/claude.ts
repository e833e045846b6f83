import {
  type CallbackQueue,
  type CsdkFrame,
  callbackQueue,
  normalizeSession,
  subagentOf,
} from '../csdk/index.js';
import type { AgentProvider, AgentRequest, SessionEvent } from '../stream/index.js';
import { ClaudeMemory } from './claude-memory.js';
import { type ClaudeProviderOptions, checkClaudeOptions } from './claude-options.js';
import { claudePrompt } from './claude-prompt.js';
import { claudeQueryOptions } from './claude-query.js';
import { type ClaudeQuery, type ClaudeRun, loadClaudeSdk } from './claude-sdk.js';
import { ClaudeTurns } from './claude-turns.js';

/**
 * Claude, with its tools: each turn is one `query()` of `@anthropic-ai/claude-agent-sdk`, which has to be installed
 * beside this package, and finds its key or its login in the environment. Every tool call, of subagents too, passes
 * `request.gate` before it runs.
 *
 * The turns of a session go on with one session of the SDK. What that has not heard (after a restart, or when
 * another provider answered meanwhile) stands as text before the prompt. A run ends when its background tasks have:
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
  const turns = new ClaudeTurns();
  let query = options.query;
  const load = async (): Promise<ClaudeQuery> => {
    query ??= await loadClaudeSdk(options.cwd);
    return query;
  };
  return {
    id: 'claude',
    models: options.models ?? ['default', 'opus', 'sonnet', 'haiku'],
    toolGate: 'enforce',
    subagentOf,
    run(request) {
      const stop = new AbortController();
      const answering = { options, memory, turns, stop, load };
      return stoppable(answer(request, answering), stop);
    },
  };
}

interface Answering {
  readonly options: ClaudeProviderOptions;
  readonly memory: ClaudeMemory;
  readonly turns: ClaudeTurns;
  readonly stop: AbortController;
  load(): Promise<ClaudeQuery>;
}

async function* answer(
  request: AgentRequest,
  { options, memory, turns, stop, load }: Answering,
): AsyncGenerator<SessionEvent, void> {
  const { signal, runId, sessionId } = request;
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const callbacks = callbackQueue();
  const leave = await turns.enter(sessionId, stop.signal);
  let run: ClaudeRun | undefined;
  try {
    const query = await load();
    const { resume, unheard } =
      options.memory === 'history'
        ? { resume: undefined, unheard: request.history }
        : memory.recall(request);
    run = query({
      prompt: claudePrompt(request, unheard),
      options: claudeQueryOptions(request, { options, resume, callbacks, stop }),
    });
    yield* normalizeSession(remembered(run, request, memory), {
      callbacks,
      onSubagent: request.tell,
      end: 'idle',
      idleTimeoutMs: options.idleTimeoutMs ?? 600_000,
      signal: stop.signal,
      runId,
      sessionId,
      ...(options.clock !== undefined && { clock: options.clock }),
      ...(options.logger !== undefined && { logger: options.logger }),
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
    try {
      await release(run, callbacks);
    } finally {
      leave();
    }
  }
}

/** Notes which session of the SDK the frames are of. A run that never began has found none. */
async function* remembered(
  run: ClaudeRun,
  request: AgentRequest,
  memory: ClaudeMemory,
): AsyncGenerator<CsdkFrame, void> {
  let isKnown = false;
  for await (const frame of run) {
    if (frame.type === 'system' && frame.subtype === 'init') {
      isKnown = true;
      memory.remember(request, String(frame.session_id));
    } else if (frame.type === 'result' && !isKnown) memory.forget(request);
    yield frame;
  }
}

/** Ends the query, also where its frames were never read; resolves when its process has gone. */
async function release(run: ClaudeRun | undefined, callbacks: CallbackQueue): Promise<void> {
  callbacks.close();
  run?.close();
  await run?.return();
}

/** A generator asked to return while it waits would wait on: it is stopped first. */
function stoppable<T>(
  source: AsyncGenerator<T, void>,
  stop: AbortController,
): AsyncGenerator<T, void> {
  let waiting = 0;
  return {
    async next() {
      waiting++;
      try {
        return await source.next();
      } finally {
        waiting--;
      }
    },
    return() {
      if (waiting > 0) stop.abort();
      return source.return();
    },
    throw: (error) => source.throw(error),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
      await source.return();
    },
  };
}
