import { describe, expect, it } from 'vitest';
import { allow, createKernel, previewObstacles } from '../../../src/kernel/internal.js';
import { createTestKernel, samplePayload } from '../../../src/testing/index.js';

const at = { extensionId: 'acme', family: 'egress.preparing' } as const;

describe("preview: 'ok'", () => {
  it('is in the plan, and what lacks it is an obstacle: vetoes and mutators, and no other class (§14.7)', () => {
    const kernel = createKernel();
    const names = () =>
      previewObstacles(kernel.plan('egress.preparing')).map((one) => one.contributionId);
    expect(names()).toEqual([]);
    kernel.contribute({ ...at, class: 'veto', id: 'time', preview: 'ok', handler: () => allow() });
    kernel.contribute({ ...at, class: 'mutator', id: 'label', preview: 'ok', handler: () => null });
    kernel.contribute({ ...at, class: 'observer', id: 'count', handler: () => {} });
    kernel.contribute({ ...at, class: 'augmenter', id: 'note', handler: () => null });
    kernel.contribute({ ...at, class: 'resolver', id: 'route', handler: () => null });
    expect(names()).toEqual([]);
    const sign = kernel.contribute({ ...at, class: 'mutator', id: 'sign', handler: () => null });
    kernel.contribute({ ...at, class: 'veto', id: 'words', handler: () => allow() });
    expect(names().sort()).toEqual(['sign', 'words']);
    sign[Symbol.dispose]();
    expect(names()).toEqual(['words']);
    const previews = kernel.plan('egress.preparing').filter(({ previewOk }) => previewOk);
    expect(previews.map((one) => one.contributionId).sort()).toEqual(['label', 'time']);
  });

  it('is no obstacle where the operator disabled the handler (§12.1)', () => {
    const kernel = createKernel({ overrides: { 'acme/words': { disabled: true } } });
    kernel.contribute({ ...at, class: 'veto', id: 'words', handler: () => allow() });
    expect(previewObstacles(kernel.plan('egress.preparing'))).toEqual([]);
  });

  it('is refused on a stage that judges no streams, with those that do (§3.4)', () => {
    const contribute = () =>
      createKernel().contribute({
        extensionId: 'acme',
        id: 'gate',
        family: 'agent.tool.calling',
        class: 'veto',
        // @ts-expect-error a tool call is not streamed
        preview: 'ok',
        handler: () => allow(),
      });
    expect(contribute).toThrow(expect.objectContaining({ code: 'bad-contribution' }));
    expect(contribute).toThrow(/judges streams: agent\.llm\.returning, egress\.preparing/);
  });

  it('is refused with another value, and on a class that holds nothing back (§3.4)', () => {
    const kernel = createKernel();
    const wrong = { ...at, class: 'veto', id: 'gate', preview: 'yes', handler: () => allow() };
    // @ts-expect-error `ok` is all there is to say
    expect(() => kernel.contribute(wrong)).toThrow(/preview can only be "ok", and it is "yes"/);
    const observer = { ...at, class: 'observer', id: 'gate', preview: 'ok', handler: () => {} };
    // @ts-expect-error an observer holds nothing back
    expect(() => kernel.contribute(observer)).toThrow(/preview is for a veto or a mutator/);
  });

  it('changes nothing of a dispatch (§3.4)', async () => {
    const { kernel } = createTestKernel();
    kernel.contribute({
      ...{ ...at, class: 'mutator', id: 'sign', preview: 'ok' },
      handler: ({ payload }) => ({ content: `${payload.content}!` }),
    });
    const outcome = await kernel.dispatch('egress.preparing', samplePayload('egress.preparing'));
    expect(outcome.payload.content).toBe('Lima.!');
  });
});
