import { getHeapStatistics } from 'node:v8';
import { measure } from 'mitata';

const sink = { value: undefined };

/** A settled figure from several: the middle one. */
export function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Whether something has to be awaited. */
export function isThenable(value) {
  return typeof value === 'object' && value !== null && typeof value.then === 'function';
}

/** Calls until the code is optimized. */
export async function warm(run, ms) {
  const until = performance.now() + ms;
  let calls = 0;
  while (calls < 500 || performance.now() < until) {
    for (let i = 0; i < 50; i++) {
      const result = run();
      if (isThenable(result)) await result;
    }
    calls += 50;
    if (performance.now() > until + 20 * ms) return; // a call takes milliseconds: that is warm enough
  }
}

/**
 * Nanoseconds per call: the lowest of several of mitata's medians, since what else a machine does only ever adds.
 * What returns a promise is awaited, as a caller would.
 * mitata's full collection before each round is left out: hidden classes of which no object is alive die with it,
 * and V8 then throws away the code that was optimized for them, so that the round would measure compiling.
 */
export async function nanoseconds(run, { rounds, ms }) {
  const figures = [];
  for (let round = 0; round < rounds; round++) {
    const stats = await measure(run, {
      min_cpu_time: ms * 1e6,
      min_samples: 8,
      batch_samples: 1024,
      gc: false,
    });
    figures.push(stats.p50);
  }
  return Math.min(...figures);
}

function heapUsed() {
  return getHeapStatistics().used_heap_size;
}

/**
 * Bytes allocated per call: how the heap grows over bursts so short that no collection falls into them. Bursts
 * that met one shrank, and are left out.
 */
export async function bytes(run, callNs) {
  const calls = callNs > 20_000 ? 16 : callNs > 2_000 ? 64 : 256;
  const awaited = isThenable(run());
  const burst = async (count) => {
    const before = heapUsed();
    for (let i = 0; i < count; i++) {
      const result = run();
      if (awaited) await result;
      else sink.value = result;
    }
    return heapUsed() - before;
  };
  globalThis.gc?.();
  await warm(run, 50); // what the collection threw away
  const empty = [];
  const full = [];
  for (let i = 0; i < 40; i++) {
    empty.push(await burst(0));
    full.push(await burst(calls));
  }
  const overhead = median(empty.filter((value) => value >= 0));
  return Math.max(0, (median(full.filter((value) => value >= overhead)) - overhead) / calls);
}

/** Bytes on the heap once it has come to rest. */
export async function heapAtRest() {
  let last = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    globalThis.gc?.();
    const now = heapUsed();
    if (Math.abs(now - last) < 2_000) return now;
    last = now;
  }
  return last;
}
