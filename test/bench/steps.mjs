import { createHook } from 'node:async_hooks';
import { contenderNamed } from './contenders/index.mjs';
import { freshPayload } from './payload.mjs';
import { build, scenarios } from './scenarios.mjs';

const warmUps = 3;

/**
 * What one dispatch of Sluice does, counted: the same on each machine. The clock is the platform's.
 *
 * @returns calls of `Object.freeze`, readings of the wall clock and of the monotonic one, and promises: the returned one and those of
 *   async handlers among them.
 */
export async function stepsOf(id, loadKernel) {
  const counts = { freezes: 0, wall: 0, monotonic: 0, promises: 0 };
  const { freeze } = Object;
  const { now } = Date;
  const monotonic = performance.now;
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PROMISE') counts.promises++;
    },
  });
  try {
    Date.now = () => {
      counts.wall++;
      return now();
    };
    const contender = await contenderNamed('sluice', loadKernel); // its clock is the one above
    const dispatch = build(
      contender,
      scenarios.find((one) => one.id === id),
    );
    for (let i = 0; i < warmUps; i++) await dispatch(freshPayload());
    Object.freeze = (value) => {
      counts.freezes++;
      return freeze(value);
    };
    performance.now = () => {
      counts.monotonic++;
      return monotonic.call(performance);
    };
    const payload = freshPayload();
    counts.wall = 0;
    hook.enable();
    const result = dispatch(payload);
    hook.disable();
    await result;
    return counts;
  } finally {
    hook.disable();
    Object.freeze = freeze;
    Date.now = now;
    performance.now = monotonic;
  }
}
