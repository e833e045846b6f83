import { Recent } from '@sluice/sdk/stream/internal';

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
export function openCalls() {
  const open = new Map<string, OpenCall>();
  const ended = new Recent<string, OpenCall>(endedCalls);
  const get = (id: string): OpenCall | undefined => open.get(id) ?? ended.get(id);

  return {
    /** Takes a call. @returns whether it is a new one. */
    begin(id: string, name: string, args: unknown): boolean {
      if (id !== '' && get(id) !== undefined) return false;
      if (id !== '') open.set(id, { name, args });
      return true;
    },
    get,

    /** Ends a call. @returns what it is, or nothing if it had ended before. */
    end(id: string, name = 'unknown'): OpenCall | undefined {
      if (id === '') return { name, args: undefined };
      if (ended.has(id)) return undefined;
      const call = open.get(id) ?? { name, args: undefined };
      open.delete(id);
      ended.set(id, { name: call.name, args: undefined }); // arguments may be whole files
      return call;
    },
    clear: (): void => open.clear(),
  };
}
