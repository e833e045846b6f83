import { createHook } from 'node:async_hooks';
import { contenderNamed } from './contenders/index.mjs';
import { freshPayload } from './payload.mjs';
import { build, scenarios } from './scenarios.mjs';

const warmUps = 3;

/**
 * What one dispatch of Sluice does, counted: the same on each machine. The clock is the platform's.
 *
 * @returns calls of `Object.freeze`, readings of the wall clock and of the monotonic one, promises (the returned one and those of
 *   async handlers among them), and the rounds of microtasks until its caller goes on.
 */
export async function stepsOf(id, loadKernel) {
  const counts = { freezes: 0, wall: 0, monotonic: 0, promises: 0, rounds: 0 };
  const { freeze } = Object;
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PROMISE') counts.promises++;
    },
  });
  try {
    const contender = await contenderNamed('sluice', () => countingKernel(loadKernel, counts));
    const dispatch = build(
      contender,
      scenarios.find((one) => one.id === id),
    );
    for (let i = 0; i < warmUps; i++) await dispatch(freshPayload());
    const payload = freshPayload();
    Object.freeze = (value) => {
      counts.freezes++;
      return freeze(value);
    };
    counts.wall = 0;
    counts.monotonic = 0;
    hook.enable();
    const result = dispatch(payload);
    hook.disable();
    counts.rounds = await roundsUntil(result);
    return counts;
  } finally {
    hook.disable();
    Object.freeze = freeze;
  }
}

/** The kernel, with a clock that counts its readings. */
async function countingKernel(loadKernel, counts) {
  const kernel = await loadKernel();
  const { systemClock } = kernel;
  const clock = {
    ...systemClock,
    now: () => {
      counts.wall++;
      return systemClock.now();
    },
    monotonicMs: () => {
      counts.monotonic++;
      return systemClock.monotonicMs();
    },
  };
  return { ...kernel, createKernel: (options) => kernel.createKernel({ ...options, clock }) };
}

/** Each microtask of its own that runs before a caller's `await` goes on is one round. */
async function roundsUntil(result) {
  let rounds = 0;
  let isOpen = true;
  const round = () => {
    if (!isOpen) return;
    rounds++;
    queueMicrotask(round);
  };
  queueMicrotask(round);
  await result;
  isOpen = false;
  return rounds;
}
