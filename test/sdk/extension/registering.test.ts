import { describe, expect, it } from 'vitest';
import { allow } from '../../../src/kernel/internal.js';
import {
  defineExtension,
  type ExtensionApi,
  loadExtension,
} from '../../../src/sdk/extension/index.js';
import { createTestKernel } from '../../../src/testing/index.js';

/** What an extension is disabled with that registers so, as from JavaScript, which no type stops. */
async function refusal(setup: (api: Untyped) => void) {
  const { kernel } = createTestKernel();
  const extension = defineExtension({
    id: 'acme',
    setup: (api) => setup(api as unknown as Untyped),
  });
  const result = await loadExtension(kernel, extension);
  expect(kernel.stats().contributions).toBe(0);
  if (result.status === 'loaded') throw new Error('it was loaded');
  return result.error;
}

type Untyped = Record<'observe' | 'veto' | 'mutate', (...args: unknown[]) => void>;

const handler = () => undefined;

describe('registering (§13, fault 31)', () => {
  it('for an unknown family names the nearest', async () => {
    const error = await refusal((api) => api.observe('egress.sendng', 'watch', handler));
    expect(error.code).toBe('unknown-family');
    expect(error.message).toContain('"egress.sendng". Did you mean "egress.sending"?');
  });

  it('for an observe-only family names what it allows, and the stages that allow the class', async () => {
    const error = await refusal((api) => api.veto('egress.sending', 'stop', handler));
    expect(error.code).toBe('class-not-allowed');
    expect(error.message).toContain(
      '"egress.sending" does not allow the class "veto"; it allows observer',
    );
    expect(error.hint).toContain('egress.preparing');
  });

  it('twice under one id names where it was first', async () => {
    const error = await refusal((api) => {
      api.observe('egress.sent', 'watch', handler);
      api.observe('egress.failed', 'watch', handler);
    });
    expect(error.code).toBe('duplicate-contribution');
    expect(error.message).toContain('"watch" already, to "egress.sent"');
  });

  it('after setup has ended is an error that names the window, and has no effect', async () => {
    const { kernel } = createTestKernel();
    let kept: ExtensionApi | undefined;
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        kept = api;
      },
    });
    await loadExtension(kernel, extension);
    const late = () => kept?.observe('egress.sent', 'watch', handler);
    expect(late).toThrow(expect.objectContaining({ code: 'setup-ended' }));
    expect(late).toThrow(
      'acme/watch: api.observe("egress.sent") came after setup had ended; contributions are taken only from the start of setup until its promise settles.',
    );
    expect(kernel.stats().contributions).toBe(0);
  });

  it('with a misspelt option names the nearest: a lost failClosed would leave a veto open', async () => {
    const error = await refusal((api) =>
      api.veto('egress.preparing', 'stop', { failclosed: true }, handler),
    );
    expect(error.code).toBe('bad-options');
    expect(error.message).toContain('no option "failclosed"; did you mean "failClosed"?');
  });

  it('with options that are none says so', async () => {
    const error = await refusal((api) => api.veto('egress.preparing', 'stop', 5, handler));
    expect(error.message).toContain('its options must be an object');
  });

  it('passes the options on to the kernel', async () => {
    const { kernel } = createTestKernel();
    const extension = defineExtension({
      id: 'acme',
      setup({ veto }) {
        veto('egress.preparing', 'stop', { failClosed: true, priority: 5, timeoutMs: 9 }, () =>
          allow(),
        );
      },
    });
    await loadExtension(kernel, extension);
    expect(kernel.plan('egress.preparing')).toMatchObject([
      { class: 'veto', policy: 'closed', priority: 5, timeoutMs: 9 },
    ]);
  });

  it('an async handler of a sync-sequential family is refused', async () => {
    const error = await refusal((api) =>
      api.mutate('transcript.message.writing', 'late', async () => undefined),
    );
    expect(error.code).toBe('async-handler');
  });
});
