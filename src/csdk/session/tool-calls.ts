import type { SessionEvent } from '../../stream/index.js';
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
export class ToolCalls {
  readonly #emit: (event: SessionEvent) => void;
  readonly #tell: (fact: DiagnosticFact) => void;
  /** Known of, and not started. */
  readonly #noted = new Map<string, KnownCall>();
  readonly #running = new Map<string, KnownCall>();
  /** The answer of each of them when it went to the background; nothing if its result comes later. */
  readonly #detached = new Map<string, { readonly launched?: unknown }>();
  /** The ends of running calls' tasks. */
  readonly #outcomes = new Map<string, TaskOutcome>();
  readonly #ended = new Set<string>();

  constructor(emit: (event: SessionEvent) => void, tell: (fact: DiagnosticFact) => void) {
    this.#emit = emit;
    this.#tell = tell;
  }

  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  /** Notes what the host says of a call. Its start tells it or, if it runs already, its updates. */
  note(id: string, { name, args }: KnownCall): void {
    const known = this.#running.get(id) ?? this.#noted.get(id);
    const call = { name: name ?? known?.name, args: args ?? known?.args };
    if (this.#running.has(id)) this.#running.set(id, call);
    else if (id !== '' && !this.#ended.has(id)) this.#noted.set(id, call);
  }

  /** Starts a call, unless it has started; then it fills in what was not known of it. */
  start(id: string, given?: KnownCall): void {
    if (id === '' || this.#ended.has(id)) return;
    const known = this.#running.get(id) ?? this.#noted.get(id);
    const call = { name: known?.name ?? given?.name, args: known?.args ?? given?.args };
    const isNews = !this.#running.has(id);
    this.#running.set(id, call);
    if (!isNews) return;
    this.#noted.delete(id);
    const { toolName, args } = told(call);
    this.#emit({ type: 'tool_execution_start', toolCallId: id, toolName, args });
  }

  /** Tells something of a call that runs. */
  update(id: string, partialResult: ToolPartial): void {
    const call = this.#running.get(id);
    if (call === undefined) return;
    const { toolName, args } = told(call);
    this.#emit({ type: 'tool_execution_update', toolCallId: id, toolName, args, partialResult });
  }

  /** The call goes on in the background: its result comes in a later turn. */
  detach(id: string): void {
    if (!this.#running.has(id)) return;
    this.#detached.set(id, {});
    this.update(id, { kind: 'detached' });
  }

  /** The call has launched a subagent in the background, and ends with it (csdk §4.10). */
  launch(id: string, launched: unknown): void {
    if (!this.#running.has(id)) return;
    this.#detached.set(id, { launched });
    this.update(id, { kind: 'detached' });
    if (this.#outcomes.get(id)?.isFinal === true) this.#endWith(id);
  }

  /** The task of a call has ended. A call that launched it ends with it, once nothing more is to come of its outcome. */
  taskEnded(id: string, outcome: TaskOutcome): void {
    if (!this.#running.has(id)) return;
    this.#outcomes.set(id, outcome);
    if (outcome.isFinal && this.#hasLaunched(id)) this.#endWith(id);
  }

  /** Ends a call that runs. */
  end(id: string, result: unknown, isError: boolean): void {
    const call = this.#running.get(id);
    if (call === undefined) {
      if (this.#ended.has(id)) this.#tell({ kind: 'repeated_tool_result', toolCallId: id });
      return;
    }
    this.#running.delete(id);
    this.#detached.delete(id);
    this.#outcomes.delete(id);
    this.#ended.add(id);
    const { toolName } = told(call);
    this.#emit({ type: 'tool_execution_end', toolCallId: id, toolName, result, isError });
  }

  /**
   * Ends what runs as never answered, and what launched a subagent with the last that was told of it. Detached calls stay
   * if `keepDetached` says that more turns may come, unless their task has ended.
   */
  endAll({ keepDetached }: { readonly keepDetached: boolean }): void {
    for (const id of [...this.#running.keys()]) {
      const isOver = this.#hasLaunched(id) && this.#outcomes.has(id);
      if (!(keepDetached && this.#detached.has(id)) || isOver) this.#endWith(id);
    }
  }

  #hasLaunched(id: string): boolean {
    return this.#detached.get(id)?.launched !== undefined;
  }

  /** Ends a call with how its task ended, or with what it answered when it launched that, or else as an error. */
  #endWith(id: string): void {
    const launched = this.#detached.get(id)?.launched;
    const outcome = this.#outcomes.get(id);
    if (launched === undefined) this.end(id, 'no result', true);
    else if (outcome === undefined) this.end(id, launched, false);
    else this.end(id, outcome.result, outcome.isError);
  }
}

function told({ name, args }: KnownCall) {
  return { toolName: name ?? 'unknown', args: args ?? {} };
}
