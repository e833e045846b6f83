import type { InternalHookEvent } from '../../src/openclaw/internal-hooks/event.js';
import type { InternalBus } from './internal-hook-sequences.js';

type Handler = Parameters<InternalBus['register']>[1];

/** The internal hook bus of profile 2026.3 in a few lines, made of what is known of it and of none of its code. */
export function internalHookModel(): InternalBus {
  let registered: { key: string; handler: Handler }[] = [];
  let known: string[] = [];
  const lines: string[] = [];
  const forgetEmpty = () => {
    known = known.filter((key) => registered.some((one) => one.key === key));
  };
  return {
    register: (key, handler) => {
      registered = [...registered, { key, handler }];
      if (!known.includes(key)) known.push(key);
    },
    unregister: (key, handler) => {
      const first = registered.find((one) => one.key === key && one.handler === handler);
      registered = registered.filter((one) => one !== first);
      forgetEmpty();
    },
    clear: () => {
      registered = [];
      forgetEmpty();
    },
    keys: () => [...known],
    create: (type, action, sessionKey, context = {}) => ({
      ...{ type: type as InternalHookEvent['type'], action, sessionKey, context },
      ...{ timestamp: new Date(0), messages: [] },
    }),
    trigger: async (event) => {
      const { type, action } = event;
      const called = [type, `${type}:${action}`].flatMap((key) =>
        registered.filter((one) => one.key === key),
      );
      for (const { handler } of called) {
        const problem = await outcomeOf(handler, event);
        if (problem !== undefined) lines.push(`error Hook error [${type}:${action}]: ${problem}`);
      }
    },
    logged: () => lines,
  };
}

async function outcomeOf(handler: Handler, event: InternalHookEvent): Promise<string | undefined> {
  try {
    await handler(event);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
