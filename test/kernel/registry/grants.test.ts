import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import {
  allow,
  canonicalStages,
  defineStage,
  type HandlerClass,
  type KernelOptions,
} from '../../../src/kernel/internal.js';
import { createTestKernel, samplePayload } from '../../../src/testing/index.js';

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
    [
      'veto:egres.*',
      /"veto:egres.\*" covers no stage that allows the class; did you mean "egress.\*"\?/,
    ],
    ['veto:nope.*', /"veto:nope.\*" covers no stage that allows the class/],
    ['veto:egress.sent', /covers no stage/],
    ['vetoes:egress.*', /names no trusted field of a stage; did you mean "veto:egress.\*"\?/],
    [
      'agent.prompt.building:systemPromt',
      /names no trusted field of a stage; did you mean "agent.prompt.building:systemPrompt"\?/,
    ],
    ['egress.preparing:content', /names no trusted field/],
    ['veto', /names no trusted field/],
  ])('that grant nothing are refused: %s', (grant, problem) => {
    expect(() => createTestKernel({ grants: { acme: [grant] } })).toThrow(
      expect.objectContaining({ code: 'bad-option', message: expect.stringMatching(problem) }),
    );
  });

  it('D4: that grant nothing are told all at once', () => {
    expect(() => createTestKernel({ grants: { acme: ['veto:nope.*', 'tpa', 'tap'] } })).toThrow(
      expect.objectContaining({
        code: 'bad-option',
        message:
          'Option "grants["acme"]" is wrong: "veto:nope.*" covers no stage that allows the class, and "tpa" names no trusted field of a stage; did you mean "tap"?.',
      }),
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

describe('M4: grants of provisions (§12.5, fault 20)', () => {
  const lab = (options: KernelOptions) =>
    createTestKernel({ ...(options as Parameters<typeof createTestKernel>[0]) }).kernel;

  it('lets an extension provide anything where nothing was said of it, and nothing under least privilege', () => {
    expect(lab({}).may('acme', 'provide:channel')).toBe(true);
    expect(lab({ leastPrivilege: true }).may('acme', 'provide:channel')).toBe(false);
  });

  it('holds an extension to the kinds that it is granted', () => {
    for (const leastPrivilege of [true, false]) {
      const kernel = lab({
        leastPrivilege,
        grants: { acme: ['provide:channel'], all: ['provide:*'] },
      });
      expect(
        ['channel', 'agent', 'command'].map((kind) => kernel.may('acme', `provide:${kind}`)),
      ).toEqual([true, false, false]);
      expect(kernel.may('all', 'provide:command')).toBe(true);
    }
  });

  it('takes neither a grant of every class nor one of a dispatch for it', () => {
    const kernel = lab({ leastPrivilege: true, grants: { acme: ['*:*', 'dispatch:egress.*'] } });
    expect(kernel.may('acme', 'provide:agent')).toBe(false);
  });

  it.each(['provide:', 'provide:two words', 'dispatch:egres.*', 'dispatch:nothing.here'])(
    'refuses "%s", which grants nothing',
    (grant) => {
      expect(() => lab({ grants: { acme: [grant] } })).toThrow(
        expect.objectContaining({ code: 'bad-option' }),
      );
    },
  );
});

describe('M5: what is the host’s to dispatch (§12.5, fault 20)', () => {
  const families = ['egress.sent', 'egress.failed', 'runtime.stopping', 'account.stopped'] as const;

  /** An observer that dispatches facts of the host. @returns what it was refused with, by family. */
  async function forge(grants: readonly string[] | undefined) {
    const { kernel } = createTestKernel(grants === undefined ? {} : { grants: { acme: grants } });
    const refused: Record<string, unknown> = {};
    kernel.contribute({
      family: 'ingress.received',
      class: 'observer',
      extensionId: 'acme',
      id: 'forger',
      handler: async (call, own) => {
        for (const family of families)
          try {
            await own.dispatch(call, family, samplePayload(family) as never);
            refused[family] = undefined;
          } catch (error) {
            refused[family] = error;
          }
      },
    });
    await kernel.dispatch('ingress.received', samplePayload('ingress.received'));
    return refused;
  }

  it('is refused to an extension that has no grant for it, and the error says which it needs', async () => {
    const refused = await forge(undefined);
    for (const family of families)
      expect(refused[family]).toMatchObject({
        code: 'not-granted',
        message: `acme/forger is not granted dispatch:${family}.`,
      });
  });

  it('is opened by a grant, family by family', async () => {
    const refused = await forge(['dispatch:egress.*']);
    expect(Object.keys(refused).filter((family) => refused[family] === undefined)).toEqual([
      'egress.sent',
      'egress.failed',
    ]);
  });

  it('is every family of the catalog, and none that an extension has defined itself', () => {
    expect(canonicalStages.filter(({ emitter }) => emitter !== 'host')).toEqual([]);
    const own = defineStage({
      family: 'acme.metric.read',
      classes: ['observer'],
      mode: 'parallel',
      payload: Type.Object({ value: Type.Number() }),
    });
    expect(own.emitter).toBe('anyone');
  });
});
