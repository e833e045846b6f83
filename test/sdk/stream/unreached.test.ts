import { describe, expect, it } from 'vitest';
import {
  hasReachedAgent,
  type StreamDelta,
  unreachedError,
} from '../../../src/sdk/stream/index.js';

describe('an error delta (seed 003)', () => {
  it('can say that nothing was asked of the agent, without a field of its own', () => {
    const delta = unreachedError('the gateway is not there');
    expect(delta).toEqual({ phase: 'error', error: 'the gateway is not there' });
    expect(hasReachedAgent(delta)).toBe(false);
  });

  it('counts as one of a run that may have reached its agent where it does not say so', () => {
    const delta: StreamDelta = { phase: 'error', error: 'it failed' };
    expect(hasReachedAgent(delta)).toBe(true);
    expect(hasReachedAgent({ phase: 'content', content: 'a' })).toBe(true);
  });
});
