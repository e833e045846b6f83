import { describe, expect, it } from 'vitest';
import { runningRuns } from '../src/running-runs.js';

describe('the runs that are remembered (judgement §6.12)', () => {
  it('have the last model that they called, or none, and are forgotten at their end', () => {
    const runs = runningRuns();
    runs.started('r-1');
    runs.started('r-2');
    runs.called('r-1', 'small');
    runs.called('r-1', 'large');
    expect([runs.ended('r-1'), runs.ended('r-2')]).toEqual(['large', undefined]);
    expect([runs.has('r-1'), runs.has('r-2')]).toEqual([false, false]);
  });

  it('tell if the beginning of one was not seen, so that its model is not known', () => {
    const runs = runningRuns();
    runs.called('r-1', 'small');
    expect([runs.has('r-1'), runs.ended('r-1'), runs.ended(undefined)]).toEqual([
      false,
      null,
      null,
    ]);
  });

  it('are at most 10,000: the oldest goes', () => {
    const runs = runningRuns();
    for (let i = 0; i <= 10_000; i++) runs.started(`r-${i}`);
    expect([runs.has('r-0'), runs.has('r-1'), runs.has('r-10000')]).toEqual([false, true, true]);
  });
});
