import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anySignal, nodeSignal, Stop } from '../../../src/sdk/stream/internal.js';

describe('a stop', () => {
  it('tells each listener once, a function or an object, and none that was taken back', () => {
    const stop = new Stop();
    const told: string[] = [];
    const gone = () => void told.push('gone');
    stop.addEventListener('abort', () => void told.push('function'));
    stop.addEventListener('abort', gone);
    stop.addEventListener('abort', { handleEvent: () => void told.push('object') });
    stop.removeEventListener('abort', gone);
    stop.abort('first');
    stop.abort('second');
    expect(told).toEqual(['function', 'object']);
    expect(stop.reason).toBe('first');
  });

  it('tells a listener that one before it has taken back no more, as a signal of Node does', () => {
    for (const stop of [new Stop(), new AbortController()]) {
      const told: string[] = [];
      const signal = stop instanceof Stop ? stop : stop.signal;
      const last = () => void told.push('last');
      signal.addEventListener('abort', () => signal.removeEventListener('abort', last));
      signal.addEventListener('abort', last);
      stop.abort();
      expect(told).toEqual([]);
      expect(signal.reason).toMatchObject({ name: 'AbortError' });
    }
  });

  it('is stopped by each one before it, with its reason, until it is disposed', () => {
    const before = [new AbortController(), new Stop()] as const;
    const own = new Stop(before[0].signal, undefined, before[1]);
    const disposed = new Stop(before[1]);
    disposed[Symbol.dispose]();
    before[1].abort('why');
    before[0].abort('too late');
    expect([own.aborted, own.reason, disposed.aborted]).toEqual([true, 'why', false]);
    expect(new Stop(before[1]).reason).toBe('why');
  });

  it('has a signal of Node, whether it is asked for before the stop or after it', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), (asksBefore, stops) => {
        const stop = new Stop();
        if (asksBefore) void stop.signal;
        if (stops) stop.abort('why');
        const { signal } = stop;
        expect(signal).toBe(stop.signal);
        expect([signal.aborted, signal.reason]).toEqual([stops, stops ? 'why' : undefined]);
        expect(nodeSignal(stop)).toBe(signal);
        expect(anySignal(stop, undefined, new AbortController().signal).aborted).toBe(stops);
      }),
    );
  });
});
