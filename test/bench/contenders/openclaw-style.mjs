import { applyTo } from './apply.mjs';

/**
 * A runner of the shape OpenClaw's has: every dispatch filters the whole list by name, sorts what is left by
 * priority, and awaits: all at once for hooks that only look, one after the other where results are merged, each
 * merge a new object. Written anew for this comparison. One kindness: it stops at a cancel, so that every
 * contender does the same work.
 */
class HookRunner {
  registered = [];
  lastError = undefined;

  add(name, handler, priority = 0) {
    this.registered.push({ name, handler, priority });
  }

  hooksFor(name) {
    return this.registered
      .filter((hook) => hook.name === name)
      .sort((left, right) => right.priority - left.priority);
  }

  async runVoid(name, payload) {
    const hooks = this.hooksFor(name);
    if (hooks.length === 0) return;
    await Promise.all(
      hooks.map(async (hook) => {
        try {
          await hook.handler(payload);
        } catch (error) {
          this.lastError = error;
        }
      }),
    );
  }

  async runModifying(name, start, merge, ends) {
    const hooks = this.hooksFor(name);
    let merged = start;
    for (const hook of hooks) {
      try {
        const result = await hook.handler(merged);
        if (result !== undefined && result !== null) {
          merged = merge(merged, result);
          if (ends(result)) break;
        }
      } catch (error) {
        this.lastError = error;
      }
    }
    return merged;
  }

  runSync(name, payload) {
    let merged = payload;
    for (const hook of this.hooksFor(name)) {
      try {
        const result = hook.handler(merged);
        if (result !== undefined && typeof result.then !== 'function')
          merged = { ...merged, ...result };
      } catch (error) {
        this.lastError = error;
      }
    }
    return merged;
  }
}

const name = 'stage';
const spread = (before, result) => ({ ...before, ...result });
const never = () => false;

function runnerOf(handlers) {
  const runner = new HookRunner();
  for (const handler of handlers) runner.add(name, handler);
  return runner;
}

export const openclawStyle = {
  name: 'openclaw-style',
  parameter: 'payload',
  observers: (handlers) => {
    const runner = runnerOf(handlers);
    return (payload) => runner.runVoid(name, payload);
  },
  mutators: (handlers, mode) => {
    const runner = runnerOf(handlers);
    if (mode === 'sync-sequential') return (payload) => runner.runSync(name, payload);
    return (payload) => runner.runModifying(name, payload, spread, never);
  },
  vetoes: (handlers) => {
    const runner = runnerOf(handlers);
    return async (payload) => {
      const merged = await runner.runModifying(
        name,
        payload,
        spread,
        (result) => result.kind === 'cancel',
      );
      return merged.kind === 'cancel' ? merged : undefined;
    };
  },
  mixed: (handlers) => {
    const steps = handlers.map((one) => {
      const step = applyTo(one);
      return (state) => {
        const next = {
          ...state,
          payload: { ...state.payload },
          annotations: { ...state.annotations },
        };
        step(next);
        return next;
      };
    });
    const runner = runnerOf(steps);
    return (payload) =>
      runner.runModifying(
        name,
        { payload, annotations: {}, cancel: undefined, selection: undefined },
        spread,
        (state) => state.cancel !== undefined,
      );
  },
  hub: () => {
    const runner = new HookRunner();
    return {
      add: (family, handler) => runner.add(family, handler),
      dispatch: (family, payload) => runner.runVoid(family, payload),
    };
  },
};
