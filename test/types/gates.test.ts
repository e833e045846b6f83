import { Type } from 'typebox';
import { describe, expectTypeOf, it } from 'vitest';
import {
  type AskingFamily,
  allow,
  ask,
  cancel,
  createKernel,
  defineStage,
  type FamilyAllowing,
  type Handler,
  type Outcome,
  type SelectionOf,
  select,
} from '../../src/kernel/internal.js';

const kernel = createKernel();
const at = { extensionId: 'types', id: 'x' } as const;

/** Each body compiles, and is never run: the compiler is the test. */
const compiles = (_body: () => unknown): void => undefined;

describe('what does not compile', () => {
  it('a class that the stage does not allow (§3.1)', () => {
    compiles(() =>
      kernel.contribute({
        ...at,
        family: 'egress.sending',
        // @ts-expect-error egress.sending allows observers only
        class: 'veto',
        handler: () => {},
      }),
    );
    expectTypeOf<'egress.sending'>().not.toExtend<FamilyAllowing<'veto'>>();
    expectTypeOf<'egress.preparing'>().toExtend<FamilyAllowing<'veto'>>();
  });

  it('a cancel with a reply where the stage takes none (§8.6)', () => {
    compiles(() => {
      const replying = () => cancel('policy', { reply: 'Later, please.' });
      kernel.contribute({
        ...at,
        family: 'routing.resolving',
        class: 'veto',
        handler: replying,
      });
      kernel.contribute({ ...at, family: 'egress.preparing', class: 'veto', handler: replying });
      kernel.contribute({
        ...at,
        family: 'agent.tool.calling',
        class: 'veto',
        // @ts-expect-error the text of a tool's cancel is for the model
        handler: replying,
      });
    });
  });

  it('an ask where the stage takes none, or of nobody (judgement §4.1)', () => {
    const good: Handler<'agent.tool.calling', 'veto'> = () =>
      ask({ title: 'Run it?', of: { role: 'admin' }, timeoutMs: 60_000, scopes: ['session'] });
    // @ts-expect-error a route is refused, and nobody is asked
    const route: Handler<'routing.resolving', 'veto'> = () => ask({ title: 'Route it?' });
    // @ts-expect-error a mutator does not judge
    const mutator: Handler<'egress.preparing', 'mutator'> = () => ask({ title: 'Send it?' });
    // @ts-expect-error a question has a title
    const untitled = () => ask({ text: 'Send it?' });
    // @ts-expect-error anybody is nobody
    const anybody = () => ask({ title: 'Send it?', of: 'anybody' });
    // @ts-expect-error no such scope
    const world = () => ask({ title: 'Send it?', scopes: ['world'] });
    compiles(() => [good, route, mutator, untitled, anybody, world]);
    expectTypeOf<AskingFamily>().toEqualTypeOf<
      'agent.tool.calling' | 'subagent.spawning' | 'egress.preparing'
    >();
  });

  it('a family that nobody declared (§2.1)', () => {
    compiles(() =>
      // @ts-expect-error there is no such family
      kernel.contribute({ ...at, family: 'egress.sendng', class: 'observer', handler: () => {} }),
    );
  });

  it('an async handler on a sync-sequential stage, of any class (§4.4)', () => {
    // @ts-expect-error sync-sequential: no promise
    const observer: Handler<'agent.output.delta', 'observer'> = async () => {};
    // @ts-expect-error sync-sequential: no promise
    const mutator: Handler<'transcript.message.writing', 'mutator'> = async () => ({});
    // @ts-expect-error sync-sequential: no promise
    const veto: Handler<'transcript.message.writing', 'veto'> = async () => allow();
    compiles(() => [observer, mutator, veto]);
  });

  it('an observer that returns something (§3.2)', () => {
    // @ts-expect-error an observer returns nothing
    const observer: Handler<'egress.preparing', 'observer'> = () => ({ content: 'x' });
    compiles(() => observer);
  });

  it('a patch with a field of the wrong type (§6.1)', () => {
    // @ts-expect-error content is a text
    const mutator: Handler<'egress.preparing', 'mutator'> = () => ({ content: 1 });
    compiles(() => mutator);
  });

  it('a cancel code that the stage does not declare (§8.1)', () => {
    // @ts-expect-error no such code
    const veto: Handler<'egress.preparing', 'veto'> = () => cancel('becuase');
    const good: Handler<'egress.preparing', 'veto'> = () => cancel('policy', { text: 'no' });
    compiles(() => [veto, good]);
  });

  it('a selection of the wrong shape (§9.1)', () => {
    // @ts-expect-error a route names an agent
    const resolver: Handler<'routing.resolving', 'resolver'> = () => select({ agent: 'a' });
    const good: Handler<'routing.resolving', 'resolver'> = () => select({ agentId: 'a' });
    compiles(() => [resolver, good]);
    expectTypeOf<SelectionOf<'egress.sending'>>().toBeNever();
  });

  it('annotations of the wrong type (§7.1)', () => {
    // @ts-expect-error notes are a list
    const augmenter: Handler<'ingress.normalized', 'augmenter'> = () => ({ notes: 'x' });
    compiles(() => augmenter);
  });

  it('options of another class (§3.4)', () => {
    compiles(() =>
      kernel.contribute({
        ...at,
        family: 'egress.preparing',
        class: 'observer',
        // @ts-expect-error an observer has no effect that a failure could keep back
        failClosed: true,
        handler: () => {},
      }),
    );
  });

  it('a fail-closed veto that decides nothing (§8.4)', () => {
    const veto = { ...at, family: 'egress.preparing', class: 'veto' } as const;
    const isClosed: boolean = kernel.has('egress.preparing'); // known at run time alone
    compiles(() => [
      kernel.contribute({ ...veto, failClosed: true, handler: () => allow() }),
      kernel.contribute({ ...veto, failClosed: true, handler: async () => cancel('policy') }),
      kernel.contribute({ ...veto, failClosed: false, handler: () => undefined }),
      // @ts-expect-error nothing is no decision
      kernel.contribute({ ...veto, failClosed: true, handler: () => undefined }),
      // @ts-expect-error it may be fail-closed
      kernel.contribute({ ...veto, failClosed: isClosed, handler: () => undefined }),
      kernel.contribute({
        ...veto,
        failClosed: true,
        // @ts-expect-error a branch that returns nothing
        handler: ({ payload }) => (payload.content === '' ? cancel('policy') : undefined),
      }),
    ]);
  });

  it('nothing of a fail-closed mutator or augmenter: to change nothing is an answer (§3.4)', () => {
    const closed = { ...at, family: 'egress.preparing', failClosed: true } as const;
    compiles(() => [
      kernel.contribute({ ...closed, class: 'mutator', handler: () => undefined }),
      kernel.contribute({ ...closed, class: 'mutator', handler: async () => ({ content: 'x' }) }),
    ]);
  });

  it('preview where no stream is judged (§3.4)', () => {
    compiles(() => [
      kernel.contribute({
        ...at,
        family: 'egress.preparing',
        class: 'mutator',
        preview: 'ok',
        handler: () => undefined,
      }),
      kernel.contribute({
        ...at,
        family: 'agent.tool.calling',
        class: 'mutator',
        // @ts-expect-error a tool call is not streamed to people
        preview: 'ok',
        handler: () => undefined,
      }),
      kernel.contribute({
        ...at,
        family: 'egress.preparing',
        class: 'resolver',
        // @ts-expect-error a resolver neither judges nor changes a text
        preview: 'ok',
        handler: () => undefined,
      }),
    ]);
  });

  it('dispatch of a sync family, and dispatchSync of an async one (§5.1)', () => {
    compiles(() => [
      // @ts-expect-error transcript stages are sync-sequential
      kernel.dispatch('transcript.message.writing', { message: { role: 'user' } }),
      // @ts-expect-error runtime.started is parallel
      kernel.dispatchSync('runtime.started', {}),
    ]);
  });

  it('a payload that lacks a field (§1.4)', () => {
    compiles(() =>
      // @ts-expect-error the payload lacks its fields
      kernel.dispatch('egress.preparing', { content: 'x' }),
    );
  });

  it('writing to what a handler is called with (§1.5)', () => {
    const observer: Handler<'egress.preparing', 'observer'> = (call) => {
      const other = call.payload;
      // @ts-expect-error read-only
      call.payload = other;
      // @ts-expect-error read-only
      call.payload.content = 'x';
      // @ts-expect-error read-only
      call.event.eventId = 'x';
    };
    compiles(() => observer);
  });

  it('a law for a field that the patch does not have (§6.2)', () => {
    compiles(() =>
      defineStage({
        family: 'acme.checking',
        classes: ['mutator'],
        mode: 'sequential',
        payload: Type.Object({ text: Type.String() }),
        patch: Type.Object({ text: Type.Optional(Type.String()) }),
        // @ts-expect-error there is no such field
        laws: { txt: 'replace' },
      }),
    );
  });
});

describe('what does compile', () => {
  it('narrows an outcome by its status (§5.2)', () => {
    compiles((outcome?: Outcome<'egress.preparing'>) => {
      if (outcome?.status === 'cancelled') expectTypeOf(outcome.cancel.code).toBeString();
      // @ts-expect-error only a cancelled outcome has a cancel
      return outcome?.status === 'passed' ? outcome.cancel : undefined;
    });
  });

  it('gives dispatchSync an outcome and dispatch a promise of one (§5.1)', () => {
    compiles(() => {
      const written = kernel.dispatchSync('transcript.message.writing', {
        message: { role: 'user' },
      });
      expectTypeOf(written).toEqualTypeOf<Outcome<'transcript.message.writing'>>();
    });
  });

  it('types own.dispatch by the family’s mode (§10.4)', () => {
    const observer: Handler<'egress.preparing', 'observer'> = (call, own) => {
      const written = own.dispatch(call, 'transcript.message.writing', {
        message: { role: 'user' },
      });
      expectTypeOf(written).toEqualTypeOf<Outcome<'transcript.message.writing'>>();
    };
    compiles(() => observer);
  });
});
