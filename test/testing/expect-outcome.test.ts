import { describe, expect, it } from 'vitest';
import { cancel } from '../../src/kernel/internal.js';
import { defineExtension } from '../../src/sdk/extension/index.js';
import {
  expectCancelled,
  expectFailed,
  expectPassed,
  loadForTest,
} from '../../src/testing/index.js';

const gate = defineExtension({
  id: 'gate',
  setup(api) {
    api.veto('egress.preparing', 'night', { failClosed: true }, ({ payload }) => {
      if (payload.kind === 'error') throw new Error('no clock');
      return payload.kind === 'notice' ? cancel('quiet-hours') : { kind: 'allow' };
    });
  },
});

const test = await loadForTest(gate);
const passed = await test.dispatch('egress.preparing', { kind: 'reply', explicit: true });
const cancelled = await test.dispatch('egress.preparing', { kind: 'notice', explicit: true });
const failed = await test.dispatch('egress.preparing', { kind: 'error', explicit: true });

describe('an assertion on an outcome (§13)', () => {
  it('gives the outcome back, narrowed', () => {
    expect(expectPassed(passed)).toBe(passed);
    expect(expectCancelled(cancelled, { code: 'quiet-hours', by: 'gate/night' }).cancel.code).toBe(
      'quiet-hours',
    );
    expect(expectCancelled(cancelled, { by: 'gate' })).toBe(cancelled);
    expect(expectFailed(failed, 'threw')).toBe(failed);
  });

  it.each([
    ['to pass', () => expectPassed(cancelled)],
    ['to be cancelled', () => expectCancelled(passed)],
    ['to be cancelled with "policy"', () => expectCancelled(cancelled, { code: 'policy' })],
    ['to be cancelled by gate/day', () => expectCancelled(cancelled, { by: 'gate/day' })],
    ['to fail', () => expectFailed(cancelled)],
    ['to fail with timed-out', () => expectFailed(failed, 'timed-out')],
  ])('that fails says what was expected: %s', (wanted, assert) => {
    expect(assert).toThrow(`expected egress.preparing ${wanted}, and this is how it went:\n`);
  });

  it('that fails prints who did what', () => {
    expect(() => expectPassed(failed)).toThrow(
      'egress.preparing failed: gate/night, threw\n' +
        '  gate/night  veto  failed (threw)  0.0 ms\n' +
        '  gate/night failed closed: threw, no clock',
    );
  });
});
