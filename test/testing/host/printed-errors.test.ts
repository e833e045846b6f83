import { defineExtension } from 'sluice';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startTestHost } from '../../../src/testing/index.js';

afterEach(() => vi.restoreAllMocks());

describe('an error in a test host (event-pipeline §20.3)', () => {
  it('is printed with the error itself, and the timeline of its message has failed', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const thrown = new Error('no such day');
    const remind = defineExtension({
      id: 'remind',
      setup(api) {
        api.provide('command', {
          name: 'remind',
          description: 'Reminds.',
          run: () => Promise.reject(thrown),
        });
      },
    });
    await using test = await startTestHost({ extensions: [remind] });
    const end = await test.say('/remind me');
    expect(end).toMatchObject({ status: 'failed', reason: '"/remind" failed: no such day' });
    expect(print.mock.calls).toEqual([['sluice: error: "/remind" failed', thrown]]);
  });
});
