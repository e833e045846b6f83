import type { SessionEvent } from '../../stream/index.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import type { ToolPartial } from './tool-partial.js';

type Fields = Readonly<Record<string, unknown>>;

/** What is known of a call. */
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
  readonly #detached = new Set<string>();
  readonly #ended = new Set<string>();

  constructor(emit: (event: SessionEvent) => void, tell: (fact: DiagnosticFact) => void) {
    this.#emit = emit;
    this.#tell = tell;
  }

  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  /** What its host says that a call is: its start says so, or, where it runs already, its updates. */
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
    this.#detached.add(id);
    this.update(id, { kind: 'detached' });
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
    this.#ended.add(id);
    const { toolName } = told(call);
    this.#emit({ type: 'tool_execution_end', toolCallId: id, toolName, result, isError });
  }

  /** Ends what runs as never answered; detached calls stay where `keepDetached` says that more turns may come. */
  endAll({ keepDetached }: { readonly keepDetached: boolean }): void {
    for (const id of [...this.#running.keys()])
      if (!(keepDetached && this.#detached.has(id))) this.end(id, 'no result', true);
  }
}

function told({ name, args }: KnownCall) {
  return { toolName: name ?? 'unknown', args: args ?? {} };
}
