import { MessageWay } from '../../../../src/openclaw/plugin/way/message-way.js';

/** The ways in which a member of the api fails. */
export const modes = ['throws', 'rejects', 'is absent'] as const;

/** A fault of this package below the api of a plugin. */
export interface Fault {
  readonly member: string;
  readonly mode: (typeof modes)[number];
}

/**
 * The members of the api that plugins get from now on, as the real objects have them: each is known by its name, each call is noted, and
 * one of them may fail.
 */
export function faultyApi() {
  const members = new Set<string>();
  const called = new Set<string>();
  let fault: Fault | undefined;
  const { watch } = MessageWay.prototype;
  const isGone = (name: string): boolean => fault?.member === name && fault.mode === 'is absent';
  MessageWay.prototype.watch = function <T extends object>(
    this: MessageWay,
    owner: string,
    all: T,
  ): T {
    const faulty = Object.entries(all).flatMap(([key, member]: [string, unknown]) => {
      const name = `${owner}.${key}`;
      if (typeof member !== 'function') return [[key, member]];
      members.add(name);
      if (isGone(name)) return [];
      const run = (...given: unknown[]): unknown => {
        called.add(name);
        if (fault?.member !== name) return member(...given);
        const error = new Error(`a fault of ${name}`);
        if (fault.mode === 'rejects') return Promise.reject(error);
        throw error;
      };
      return [[key, run]];
    });
    return watch.call(this, owner, Object.fromEntries(faulty)) as T; // the same names
  };
  return {
    members,
    called,
    /** Has a member fail from now on; nothing has all of them work. One that is to be absent is so in what is made from now on. */
    set: (next: Fault | undefined): void => {
      fault = next;
    },
  };
}
