import type { AgentDefinition } from 'sluice';
import { type AgentProvider, type AgentRequest, leavable, type SessionEvent } from 'sluice/stream';
import { type ProgramSettings, programSettings } from './config.js';
import { pause } from './late.js';
import { type Program, type Services, startProgram } from './program.js';
import { openSession, promptOf } from './sessions.js';
import { askPrompt } from './turn.js';

/** An agent of a program, which is ended with it. */
export type AcpAgent = AgentDefinition & AsyncDisposable;

/**
 * An agent that speaks the Agent Client Protocol: a program that is started with the first message, and again after it has ended.
 * All conversations share it, each with a session of its own.
 *
 * @param command the program and its words, such as `gemini --acp`.
 * @param settings those of the README; `cwd` is an absolute path.
 * @example
 * const agent = api.own('gemini', acpAgent('gemini --acp', { cwd: '/srv/project' }, api));
 * api.provide('agent', agent);
 */
export function acpAgent(
  command: string,
  given: Partial<ProgramSettings>,
  services: Services,
): AcpAgent {
  const settings = programSettings.parse(given);
  const { clock } = services;
  const id = `acp:${command}`;
  let running: Promise<Program> | undefined;
  const unloading = new AbortController();
  /** The turns that run, by session: the program takes one prompt of a session at a time. */
  const turns = new Map<string, Promise<unknown>>();

  function program(): Promise<Program> {
    if (running !== undefined) return running;
    const begun = startProgram(command, settings, services, unloading.signal, () => {
      if (running === begun) running = undefined;
    });
    running = begun;
    begun.catch(() => {
      if (running === begun) running = undefined; // also if nothing has begun that could end
    });
    return begun;
  }

  async function* answer(
    request: AgentRequest,
    left: AbortSignal,
  ): AsyncGenerator<SessionEvent, void> {
    const { sessionId } = request;
    const stopped = AbortSignal.any([request.signal, left]);
    yield { type: 'agent_start' };
    const before = turns.get(sessionId);
    let leave = (): void => undefined;
    const own = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const turn = Promise.all([before, own]);
    turns.set(sessionId, turn);
    try {
      await untilStopped(before, stopped);
      const running = await untilStopped(program(), stopped);
      const opened = await untilStopped(openSession(running, request, settings), stopped);
      const restMs = (opened.session.restsUntilMs ?? 0) - clock.monotonicMs();
      await untilStopped(pause(clock, restMs, stopped), stopped);
      const text = promptOf(request, opened);
      const asked = { ...services, ...opened, request, settings, text, provider: id, stopped };
      for await (const item of askPrompt({ ...asked, program: running })) {
        if (item instanceof Error) throw item;
        yield item;
      }
    } finally {
      leave();
      if (turns.get(sessionId) === turn) turns.delete(sessionId);
    }
  }

  const provider: AgentProvider = {
    id,
    models: ['default'],
    toolGate: 'enforce',
    run(request) {
      const left = new AbortController();
      return leavable(answer(request, left.signal), { close: () => left.abort() });
    },
  };
  return {
    ...{ id, provider },
    async [Symbol.asyncDispose]() {
      const last = running; // it is forgotten as soon as it ends
      unloading.abort();
      await last?.then(
        ({ gone }) => gone,
        () => undefined,
      );
    },
  };
}

/** Waits for something, but not when the turn is stopped: it goes on without a reader. */
function untilStopped<T>(work: T | Promise<T>, stopped: AbortSignal): Promise<T> {
  const stop = new Promise<never>((_, reject) => {
    if (stopped.aborted) reject(stopped.reason);
    stopped.addEventListener('abort', () => reject(stopped.reason), { once: true });
  });
  return Promise.race([work, stop]);
}
