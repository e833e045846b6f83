/**
 * The floor: what a careful person writes by hand for one stage. A loop, a try/catch around each handler, one
 * working object that patches are assigned to. Handlers get what they get from Sluice: an event that holds the
 * payload, so that their code is the same to the letter. No envelope, no outcome, no checks: only what cannot be left
 * out.
 */
const trouble = { error: undefined };

function note(error) {
  trouble.error = error;
}

function isThenable(value) {
  return typeof value === 'object' && value !== null && typeof value.then === 'function';
}

function observeSync(handlers, payload) {
  const event = { payload };
  for (let i = 0; i < handlers.length; i++) {
    try {
      const result = handlers[i](event);
      if (result !== undefined && isThenable(result)) result.then(undefined, note);
    } catch (error) {
      note(error);
    }
  }
}

/** All at once; one promise, settled by a countdown. */
function observeAsync(handlers, payload) {
  const event = { payload };
  return new Promise((resolve) => {
    let left = handlers.length;
    const done = () => {
      if (--left === 0) resolve();
    };
    const failed = (error) => {
      note(error);
      done();
    };
    for (let i = 0; i < handlers.length; i++) {
      try {
        handlers[i](event).then(done, failed);
      } catch (error) {
        failed(error);
      }
    }
  });
}

function mutateSync(handlers, payload) {
  const working = { ...payload };
  const event = { payload: working };
  for (let i = 0; i < handlers.length; i++) {
    try {
      const patch = handlers[i](event);
      if (patch !== undefined) Object.assign(working, patch);
    } catch (error) {
      note(error);
    }
  }
  return working;
}

async function mutateAsync(handlers, payload) {
  const working = { ...payload };
  const event = { payload: working };
  for (let i = 0; i < handlers.length; i++) {
    try {
      const patch = await handlers[i](event);
      if (patch !== undefined) Object.assign(working, patch);
    } catch (error) {
      note(error);
    }
  }
  return working;
}

function veto(handlers, payload) {
  const event = { payload };
  for (let i = 0; i < handlers.length; i++) {
    try {
      const verdict = handlers[i](event);
      if (verdict !== undefined && verdict.kind === 'cancel') return verdict;
    } catch (error) {
      note(error);
    }
  }
  return undefined;
}

function mixed(handlers, payload) {
  const state = {
    payload: { ...payload },
    annotations: {},
    cancel: undefined,
    selection: undefined,
  };
  for (let i = 0; i < handlers.length; i++) {
    const one = handlers[i];
    try {
      const result = one.handler(state);
      if (result === undefined) continue;
      if (one.class === 'mutator') Object.assign(state.payload, result);
      else if (one.class === 'augmenter') Object.assign(state.annotations, result);
      else if (one.class === 'resolver') state.selection = result;
      else if (one.class === 'veto') {
        state.cancel = result;
        return state;
      }
    } catch (error) {
      note(error);
    }
  }
  return state;
}

export const floor = {
  name: 'floor',
  parameter: '{ payload }',
  observers: (handlers, isAsync) => (payload) =>
    isAsync ? observeAsync(handlers, payload) : observeSync(handlers, payload),
  mutators: (handlers, _mode, isAsync) => (payload) =>
    isAsync ? mutateAsync(handlers, payload) : mutateSync(handlers, payload),
  vetoes: (handlers) => (payload) => veto(handlers, payload),
  mixed: (handlers) => (payload) => mixed(handlers, payload),
  hub: (families) => {
    const lists = new Map(families.map((family) => [family, []]));
    return {
      add: (family, handler) => lists.get(family).push(handler),
      dispatch: (family, payload) => observeSync(lists.get(family), payload),
    };
  },
};
