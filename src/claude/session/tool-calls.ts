import type { SessionEvent } from '@sluice/sdk/stream';
import type { Fields } from '../frames/frame.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import type { TaskOutcome, ToolPartial } from './tool-partial.js';

/** The known facts of a call. */
export interface KnownCall {
  readonly name?: string | undefined;
  readonly args?: Fields | undefined;
}

/**
 * The tool calls of the main lane, by id: each starts once and ends once (csdk §4). Of a call that has ended only
 * its id is kept.
 */
export function toolCalls(
  emit: (event: SessionEvent) => void,
  report: (fact: DiagnosticFact) => void,
) {
  /** Known of, and not started. */
  const noted = new Map<string, KnownCall>();
  const running = new Map<string, KnownCall>();
  /** The answer of each of them when it went to the background; nothing if its result comes later. */
  const detached = new Map<string, { readonly launched?: unknown }>();
  /** The ends of running calls' tasks. */
  const outcomes = new Map<string, TaskOutcome>();
  const ended = new Set<string>();

  /** Tells something of a call that runs. */
  function update(id: string, partialResult: ToolPartial): void {
    const call = running.get(id);
    if (call === undefined) return;
    const { toolName, args } = told(call);
    emit({ type: 'tool_execution_update', toolCallId: id, toolName, args, partialResult });
  }

  /** Ends a call that runs. */
  function end(id: string, result: unknown, isError: boolean): void {
    const call = running.get(id);
    if (call === undefined) {
      if (ended.has(id)) report({ kind: 'repeated_tool_result', toolCallId: id });
      return;
    }
    running.delete(id);
    detached.delete(id);
    outcomes.delete(id);
    ended.add(id);
    const { toolName } = told(call);
    emit({ type: 'tool_execution_end', toolCallId: id, toolName, result, isError });
  }

  function hasLaunched(id: string): boolean {
    return detached.get(id)?.launched !== undefined;
  }

  /** Ends a call with how its task ended, or with what it answered when it launched that, or else as an error. */
  function endWith(id: string): void {
    const launched = detached.get(id)?.launched;
    const outcome = outcomes.get(id);
    if (launched === undefined) end(id, 'no result', true);
    else if (outcome === undefined) end(id, launched, false);
    else end(id, outcome.result, outcome.isError);
  }

  return {
    isRunning(id: string): boolean {
      return running.has(id);
    },
    /** Notes what the host says of a call. Its start tells it or, if it runs already, its updates. */
    note(id: string, { name, args }: KnownCall): void {
      const known = running.get(id) ?? noted.get(id);
      const call = { name: name ?? known?.name, args: args ?? known?.args };
      if (running.has(id)) running.set(id, call);
      else if (id !== '' && !ended.has(id)) noted.set(id, call);
    },
    /** Starts a call, unless it has started; then it fills in what was not known of it. */
    start(id: string, given?: KnownCall): void {
      if (id === '' || ended.has(id)) return;
      const known = running.get(id) ?? noted.get(id);
      const call = { name: known?.name ?? given?.name, args: known?.args ?? given?.args };
      const isNews = !running.has(id);
      running.set(id, call);
      if (!isNews) return;
      noted.delete(id);
      const { toolName, args } = told(call);
      emit({ type: 'tool_execution_start', toolCallId: id, toolName, args });
    },
    update,
    /** The call goes on in the background: its result comes in a later turn. */
    detach(id: string): void {
      if (!running.has(id)) return;
      detached.set(id, {});
      update(id, { kind: 'detached' });
    },
    /** The call has launched a subagent in the background, and ends with it (csdk §4.10). */
    launch(id: string, launched: unknown): void {
      if (!running.has(id)) return;
      detached.set(id, { launched });
      update(id, { kind: 'detached' });
      if (outcomes.get(id)?.isFinal === true) endWith(id);
    },
    /** The task of a call has ended. A call that launched it ends with it, once nothing more is to come of its outcome. */
    taskEnded(id: string, outcome: TaskOutcome): void {
      if (!running.has(id)) return;
      outcomes.set(id, outcome);
      if (outcome.isFinal && hasLaunched(id)) endWith(id);
    },
    end,
    /**
     * Ends what runs as never answered, and what launched a subagent with the last that was told of it. Detached calls stay
     * if `keepDetached` says that more turns may come, unless their task has ended.
     */
    endAll({ keepDetached }: { readonly keepDetached: boolean }): void {
      for (const id of [...running.keys()]) {
        const isOver = hasLaunched(id) && outcomes.has(id);
        if (!(keepDetached && detached.has(id)) || isOver) endWith(id);
      }
    },
  };
}

/** The parts of `toolCalls` that others use. */
export type ToolCalls = ReturnType<typeof toolCalls>;

function told({ name, args }: KnownCall) {
  return { toolName: name ?? 'unknown', args: args ?? {} };
}
