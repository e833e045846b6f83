import { Recent } from '../../../stream/internal.js';

/** A tool call that has begun. */
export interface OpenCall {
  readonly name: string;
  readonly args: unknown;
}

/** So many calls that have ended are remembered. */
const endedCalls = 1000;

/**
 * The tool calls of a run by their ids: which have begun, under what name, and which have ended. What has ended is
 * remembered for a while, so that the same answer again is known.
 */
export class OpenCalls {
  readonly #open = new Map<string, OpenCall>();
  readonly #ended = new Recent<string, OpenCall>(endedCalls);

  /** Takes a call. @returns whether it is a new one. */
  begin(id: string, name: string, args: unknown): boolean {
    if (id !== '' && this.get(id) !== undefined) return false;
    if (id !== '') this.#open.set(id, { name, args });
    return true;
  }

  get(id: string): OpenCall | undefined {
    return this.#open.get(id) ?? this.#ended.get(id);
  }

  /** Ends a call. @returns what it is, or nothing if it had ended before. */
  end(id: string, name = 'unknown'): OpenCall | undefined {
    if (id === '') return { name, args: undefined };
    if (this.#ended.has(id)) return undefined;
    const call = this.#open.get(id) ?? { name, args: undefined };
    this.#open.delete(id);
    this.#ended.set(id, { name: call.name, args: undefined }); // arguments may be whole files
    return call;
  }

  clear(): void {
    this.#open.clear();
  }
}
