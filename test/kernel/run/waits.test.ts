import { describe, expect, it, vi } from 'vitest';
import {
  createKernel,
  onAbort,
  perKernel,
  Timer,
  withTimeout,
} from '../../../src/kernel/internal.js';
import { virtualClock } from '../../../src/testing/index.js';

describe('a timer', () => {
  it('fires once, and a new time takes the place of the one before', async () => {
    const clock = virtualClock();
    const fired: string[] = [];
    const timer = new Timer(clock);
    timer.set(10, () => fired.push('first'));
    timer.set(20, () => fired.push('second'));
    expect(timer.isSet).toBe(true);
    await clock.advance(30);
    expect(fired).toEqual(['second']);
    expect(timer.isSet).toBe(false);
  });

  it('is taken back by clear, by dispose, and by a time that is undefined', async () => {
    const clock = virtualClock();
    const fired = vi.fn();
    const timer = new Timer(clock);
    timer.set(10, fired);
    timer.clear();
    timer.set(10, fired);
    timer.set(undefined, fired);
    {
      using scoped = new Timer(clock);
      scoped.set(10, fired);
    }
    await clock.advance(10);
    expect(fired).not.toHaveBeenCalled();
  });
});

describe('onAbort', () => {
  it('calls at once for a signal that is aborted, else when it aborts, and never once disposed', () => {
    const heard: string[] = [];
    onAbort(AbortSignal.abort(), () => heard.push('aborted before'));
    const stop = new AbortController();
    onAbort(stop.signal, () => heard.push('aborted'));
    onAbort(stop.signal, () => heard.push('disposed'))[Symbol.dispose]();
    onAbort(undefined, () => heard.push('no signal'));
    expect(heard).toEqual(['aborted before']);
    stop.abort();
    expect(heard).toEqual(['aborted before', 'aborted']);
  });
});

describe('withTimeout', () => {
  it('gives the result of the promise, or that of the function when the time is over', async () => {
    const clock = virtualClock();
    expect(await withTimeout(Promise.resolve('done'), 10, clock, () => 'late')).toBe('done');
    const late = withTimeout(new Promise<string>(() => undefined), 10, clock, () => 'late');
    await clock.advance(10);
    expect(await late).toBe('late');
  });

  it('rejects as the promise does, and as the function throws', async () => {
    const clock = virtualClock();
    const refused = withTimeout(Promise.reject(new Error('no')), 10, clock, () => 'late');
    await expect(refused).rejects.toThrow('no');
    const late = withTimeout(new Promise(() => undefined), 10, clock, () => {
      throw new Error('too late');
    });
    const seen = expect(late).rejects.toThrow('too late');
    await clock.advance(10);
    await seen;
  });
});

describe('perKernel', () => {
  it('makes one object for each kernel, and refuses what is no kernel', () => {
    const countsOf = perKernel((_, first: string) => [first]);
    const [one, other] = [createKernel(), createKernel()];
    expect(countsOf(one, 'a')).toBe(countsOf(one, 'b'));
    expect(countsOf(one, 'c')).toEqual(['a']);
    expect(countsOf(other, 'd')).toEqual(['d']);
    expect(() => countsOf({} as typeof one, 'e')).toThrow('the first argument is no kernel');
  });
});
