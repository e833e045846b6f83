import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesWaterfallHook,
  SyncHook,
  SyncWaterfallHook,
} from 'tapable';
import { applyTo } from './apply.mjs';

/** tapable compiles each hook. It has no patches: a tap assigns them to the working object that it passes on. */
function tapAll(hook, taps, isAsync = false) {
  taps.forEach((tap, i) => {
    if (isAsync) hook.tapPromise(`tap-${i}`, tap);
    else hook.tap(`tap-${i}`, tap);
  });
  return hook;
}

function patching(handler, isAsync) {
  if (!isAsync) return (working) => Object.assign(working, handler(working));
  return async (working) => Object.assign(working, await handler(working));
}

export const tapable = {
  name: 'tapable',
  parameter: 'payload',
  observers: (handlers, isAsync) => {
    if (isAsync) {
      const hook = tapAll(new AsyncParallelHook(['payload']), handlers, true);
      return (payload) => hook.promise(payload);
    }
    const hook = tapAll(new SyncHook(['payload']), handlers);
    return (payload) => hook.call(payload);
  },
  mutators: (handlers, mode, isAsync) => {
    const taps = handlers.map((handler) => patching(handler, isAsync));
    if (mode === 'sync-sequential') {
      const hook = tapAll(new SyncWaterfallHook(['working']), taps);
      return (payload) => hook.call({ ...payload });
    }
    const hook = tapAll(new AsyncSeriesWaterfallHook(['working']), taps, isAsync);
    return (payload) => hook.promise({ ...payload });
  },
  vetoes: (handlers) => {
    const hook = tapAll(new AsyncSeriesBailHook(['payload']), handlers);
    return (payload) => hook.promise(payload);
  },
  mixed: (handlers) => {
    const hook = tapAll(new AsyncSeriesBailHook(['state']), handlers.map(applyTo));
    return (payload) => {
      const state = {
        payload: { ...payload },
        annotations: {},
        cancel: undefined,
        selection: undefined,
      };
      return hook.promise(state).then(() => state);
    };
  },
  hub: (families) => {
    const hooks = new Map(families.map((family) => [family, new SyncHook(['payload'])]));
    return {
      add: (family, handler) => hooks.get(family).tap('tap', handler),
      dispatch: (family, payload) => hooks.get(family).call(payload),
    };
  },
};
