import { Hookable } from 'hookable';
import { applyTo } from './apply.mjs';

const name = 'stage';

/** A Hookable with these functions on one hook. */
function hooked(functions) {
  const hooks = new Hookable();
  for (const one of functions) hooks.hook(name, one);
  return hooks;
}

function patching(handler, isAsync) {
  if (isAsync) return async (working) => void Object.assign(working, await handler(working));
  return (working) => void Object.assign(working, handler(working));
}

/** Runs a hook over a state, and gives the state back: at once where nothing was asynchronous. */
function over(hooks, state) {
  const pending = hooks.callHook(name, state);
  return pending === undefined ? state : pending.then(() => state);
}

/** hookable has neither patches nor a way to stop: a step looks whether one before it has cancelled. */
export const hookable = {
  name: 'hookable',
  parameter: 'payload',
  observers: (handlers, isAsync) => {
    const hooks = hooked(handlers);
    return isAsync
      ? (payload) => hooks.callHookParallel(name, payload)
      : (payload) => hooks.callHook(name, payload);
  },
  mutators: (handlers, _mode, isAsync) => {
    const hooks = hooked(handlers.map((handler) => patching(handler, isAsync)));
    return (payload) => over(hooks, { ...payload });
  },
  vetoes: (handlers) => {
    const hooks = hooked(handlers.map((handler) => applyTo({ class: 'veto', handler })));
    return (payload) => over(hooks, { payload, cancel: undefined }).cancel;
  },
  mixed: (handlers) => {
    // `true` from a step means "stop" elsewhere; here it is a value that nobody reads
    const hooks = hooked(handlers.map(applyTo));
    return (payload) =>
      over(hooks, {
        payload: { ...payload },
        annotations: {},
        cancel: undefined,
        selection: undefined,
      });
  },
  hub: (families) => {
    const hooks = new Hookable();
    void families;
    return {
      add: (family, handler) => hooks.hook(family, handler),
      dispatch: (family, payload) => hooks.callHook(family, payload),
    };
  },
};
