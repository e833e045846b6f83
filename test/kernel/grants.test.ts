import { describe, expect, it } from 'vitest';
import { allow, type HandlerClass, type KernelOptions } from '../../src/kernel/index.js';
import { createTestKernel, samplePayload } from '../../src/testing/index.js';

/** Contributes a handler that does nothing. */
function contribute(options: KernelOptions, name: HandlerClass, family = 'egress.preparing') {
  const { kernel } = createTestKernel({
    ...(options.grants !== undefined && { grants: options.grants }),
    ...(options.leastPrivilege !== undefined && { leastPrivilege: options.leastPrivilege }),
  });
  const contribution = { extensionId: 'acme', id: 'one', handler: () => undefined };
  // the class and the family are computed, so the types cannot know that they fit
  return kernel.contribute({ ...contribution, class: name, family } as never);
}

const classes = ['observer', 'augmenter', 'mutator', 'veto', 'resolver'] as const;

describe('grants of classes (§12.5)', () => {
  it.each(classes)('without any, an extension may contribute a %s', (name) => {
    expect(() => contribute({}, name)).not.toThrow();
  });

  it.each(classes)('under least privilege, a %s needs a grant, unless it observes', (name) => {
    const add = () => contribute({ leastPrivilege: true }, name);
    if (name === 'observer') expect(add).not.toThrow();
    else
      expect(add).toThrow(
        expect.objectContaining({
          code: 'not-granted',
          message: `acme/one is not granted ${name}:egress.preparing.`,
          hint: expect.stringContaining(`"grants": { "acme": ["${name}:egress.preparing"] }`),
        }),
      );
  });

  it.each(['veto:egress.preparing', 'veto:egress.*', 'veto:*', '*:egress.preparing', '*:*'])(
    '%s lets a veto in',
    (grant) => {
      const options = { leastPrivilege: true, grants: { acme: [grant] } };
      expect(() => contribute(options, 'veto')).not.toThrow();
    },
  );

  it.each(['mutator:egress.*', 'veto:routing.*', '*:agent.*'])(
    '%s keeps a veto of egress.preparing out, in either mode',
    (grant) => {
      for (const leastPrivilege of [true, false]) {
        const options = { leastPrivilege, grants: { acme: [grant] } };
        expect(() => contribute(options, 'veto')).toThrow(/not granted veto:egress.preparing/);
      }
    },
  );

  it('of one extension say nothing of another', () => {
    expect(() => contribute({ grants: { other: ['veto:routing.*'] } }, 'mutator')).not.toThrow();
  });

  it.each([
    ['veto:egres.*', /"veto:egres.\*" covers no stage that allows the class/],
    ['veto:egress.sent', /covers no stage/],
    ['vetoes:egress.*', /names no trusted field/],
    ['egress.preparing:content', /names no trusted field/],
    ['veto', /names no trusted field/],
  ])('that grant nothing are refused: %s', (grant, problem) => {
    expect(() => createTestKernel({ grants: { acme: [grant] } })).toThrow(
      expect.objectContaining({ code: 'bad-option', message: expect.stringMatching(problem) }),
    );
  });

  it('may be given later, and taken back for what comes after', () => {
    const { kernel } = createTestKernel({ leastPrivilege: true });
    const veto = { family: 'egress.preparing', class: 'veto', extensionId: 'acme' } as const;
    const granted = kernel.grant('acme', ['veto:egress.*']);
    kernel.contribute({ ...veto, id: 'one', handler: () => allow() });
    granted[Symbol.dispose]();
    expect(() => kernel.contribute({ ...veto, id: 'two', handler: () => allow() })).toThrow(
      /not granted/,
    );
    expect(kernel.plan('egress.preparing')).toHaveLength(1);
  });
});

describe('instrument (§12.7)', () => {
  it('stands around each handler, and is told whose it is', async () => {
    const seen: string[] = [];
    const { kernel } = createTestKernel({
      instrument:
        (handler, { extensionId, contributionId, family }) =>
        (call, own) => {
          seen.push(`${extensionId}/${contributionId} on ${family}`);
          return handler(call, own);
        },
    });
    kernel.contribute({
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'acme',
      id: 'sign',
      handler: ({ payload }) => ({ content: `${payload.content}!` }),
    });
    const sample = { ...samplePayload('egress.preparing'), explicit: true, content: 'hi' };
    expect((await kernel.dispatch('egress.preparing', sample)).payload.content).toBe('hi!');
    expect(seen).toEqual(['acme/sign on egress.preparing']);
  });
});
