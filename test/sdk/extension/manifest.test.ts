import { describe, expect, it } from 'vitest';
import { allow } from '../../../src/kernel/internal.js';
import { defineExtension, loadExtension } from '../../../src/sdk/extension/index.js';
import { createTestKernel } from '../../../src/testing/index.js';

const setup = (): void => undefined;

describe('a manifest (§13.6)', () => {
  it.each([
    [{ version: '1' }, 'its manifest at version: must be a version, such as "1.2.0"'],
    [{ sluice: 'new' }, 'its manifest at sluice: must be a range of versions, such as "^0.1.0"'],
    [{ grants: ['veto'] }, /^its manifest at grants.0: must be "class:family", "family:field", /],
    [{ verison: '1.0.0' }, 'its manifest: Unrecognized key: "verison"'],
    [5, /^its manifest: /],
  ])('is refused where it is %j', (manifest, problem) => {
    expect(() => defineExtension({ id: 'acme', manifest: manifest as never, setup })).toThrow(
      expect.objectContaining({
        code: 'bad-extension',
        details: expect.objectContaining({
          problem: typeof problem === 'string' ? problem : expect.stringMatching(problem),
        }),
      }),
    );
  });

  it.each(['^0.2.0', '*', '>=0.1.0 <2'])('that needs Sluice %s is taken', async (sluice) => {
    const { kernel } = createTestKernel();
    const extension = defineExtension({
      id: 'acme',
      manifest: { version: '1.2.0', sluice },
      setup,
    });
    expect(await loadExtension(kernel, extension)).toMatchObject({
      status: 'loaded',
      manifest: { version: '1.2.0' },
    });
  });

  it('that needs another Sluice disables its extension before its setup runs', async () => {
    const { kernel } = createTestKernel();
    let ran = false;
    const extension = defineExtension({
      id: 'acme',
      manifest: { sluice: '^9.0.0' },
      setup: () => {
        ran = true;
      },
    });
    expect(await loadExtension(kernel, extension)).toMatchObject({
      status: 'disabled',
      error: {
        code: 'wrong-sluice',
        message: expect.stringMatching(/^Extension "acme" needs Sluice \^9\.0\.0, and this is \d/),
      },
    });
    expect(ran).toBe(false);
  });

  it('says what an extension asks for, where it is not granted; all that is missing is told at once (§12.5)', async () => {
    const { kernel } = createTestKernel({ leastPrivilege: true });
    const extension = defineExtension({
      id: 'acme',
      manifest: { grants: ['veto:egress.*', 'mutator:egress.*'] },
      setup(api) {
        api.observe('egress.sent', 'watch', () => undefined);
        api.veto('egress.preparing', 'gate', () => allow());
        api.mutate('egress.preparing', 'sign', () => ({ content: 'x' }));
      },
    });
    expect(await loadExtension(kernel, extension)).toMatchObject({
      status: 'disabled',
      error: {
        code: 'not-granted',
        message:
          'acme is not granted veto:egress.preparing, mutator:egress.preparing. Its manifest asks for: veto:egress.*, mutator:egress.*.',
        hint: expect.stringContaining(
          '"grants": { "acme": ["veto:egress.preparing", "mutator:egress.preparing"] }',
        ),
      },
    });
    expect(kernel.stats().contributions).toBe(0);
    kernel.grant('acme', ['veto:egress.*', 'mutator:egress.*']);
    expect((await loadExtension(kernel, extension)).status).toBe('loaded');
  });
});
