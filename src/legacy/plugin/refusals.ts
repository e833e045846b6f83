import { SluiceError } from '../../kernel/index.js';
import type { UnsupportedCall } from './plugin.js';
import { type UnsupportedMember, unsupportedMembers } from './unsupported.js';

/** What refuses a plugin the parts of its api that are not there. */
export interface Refusals {
  /** What was asked for so far: once per method. */
  readonly calls: readonly UnsupportedCall[];
  /** Writes a call down without refusing it. */
  note(member: UnsupportedMember): void;
  /** A method that refuses. */
  method(member: UnsupportedMember): () => unknown;
  /** An object of which every member, however deep, is a method that refuses. */
  part(member: UnsupportedMember): unknown;
}

/**
 * Makes the refusals of a plugin.
 *
 * @param how `refuse` throws `plugin-unsupported`; `skip` writes the call down, and the plugin goes on.
 * @param onCall is told of each method, once.
 */
export function refusalsOf(
  extensionId: string,
  how: 'refuse' | 'skip',
  onCall: (call: UnsupportedCall) => void,
): Refusals {
  const calls: UnsupportedCall[] = [];

  const note = (member: UnsupportedMember, method: string = member): void => {
    if (calls.some((call) => call.method === method)) return;
    const call = { method, instead: unsupportedMembers[member] };
    calls.push(call);
    onCall(call);
  };

  const refuse = (member: UnsupportedMember, method: string): void => {
    note(member, method);
    if (how === 'refuse')
      throw new SluiceError('plugin-unsupported', {
        extensionId,
        method,
        instead: unsupportedMembers[member],
      });
  };

  /**
   * Reading a member is no use of it: plugins hand `api.runtime` about. Calling one is. What a call that was passed
   * over gives is empty as a list and its path as a text, so that the plugin goes on as far as it can.
   */
  const part = (member: UnsupportedMember, path: string): unknown => {
    const inert: unknown = new Proxy(() => undefined, {
      get: (_, key) => {
        if (key === Symbol.iterator) return () => [].values();
        if (key === Symbol.toPrimitive) return () => path;
        if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') return undefined;
        return part(member, `${path}.${key}`);
      },
      apply: () => {
        refuse(member, path);
        return inert;
      },
      construct: () => {
        refuse(member, path);
        return inert as object; // the proxy just made
      },
    });
    return inert;
  };

  return {
    calls,
    note: (member) => note(member),
    method: (member) => () => refuse(member, member),
    part: (member) => part(member, member),
  };
}
