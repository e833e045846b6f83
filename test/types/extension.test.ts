import { Type } from 'typebox';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  allow,
  cancel,
  defineExtension,
  type Extension,
  type ExtensionApi,
  fromTypebox,
  select,
} from '../../src/index.js';

/** Never called: the compiler reads it, and `tsc --noEmit` fails where a line below stops being an error. */
const gates = (api: ExtensionApi): void => {
  api.veto('egress.preparing', 'ok', ({ payload }) =>
    payload.silent ? cancel('policy') : allow(),
  );
  // @ts-expect-error §3: egress.sending allows observers only
  api.veto('egress.sending', 'gate', () => allow());
  // @ts-expect-error §3: nor does it take a patch
  api.mutate('egress.sending', 'gate', () => ({ content: '' }));
  // @ts-expect-error extensions-that-act §4.1: a send names its channel
  void api.send({ to: '42', content: 'Tea!' });
  // @ts-expect-error §14.16: a button has a label
  void api.send({ channel: 'x', to: '42', content: '', interactive: { buttons: [{ id: 'a' }] } });
  void api.send({ channel: 'x', to: '42', content: 'Tea!' }).then(({ ended }) =>
    // @ts-expect-error extensions-that-act §4.2: `ended` is a promise of the end
    ended.status.trim(),
  );
  api.tap({ failure: ({ kind }, { family }) => void [kind, family] });
  // @ts-expect-error extensions-that-act §8.1: a tap has no such listener
  api.tap({ outcomes: () => undefined });
  void api
    .tap()
    .figures()
    .then(({ stats, health, journal }) => {
      const counts: readonly number[] = [stats.sends.failed, journal.updates.dead];
      void [counts, health.kernel.quarantined];
      // @ts-expect-error extensions-that-act §8.4: figures are read, not written
      stats.received = 1;
    });
  api.provide('route', { method: 'GET', path: '/page', handler: () => new Response('hello') });
  api.provide('route', {
    ...{ method: 'POST', path: '/hook', maxBodyBytes: 1_000, timeoutMs: 5_000 },
    handler: async (request) => Response.json(await request.json()),
  });
  // @ts-expect-error extensions-that-act §9.1: a handler returns a Response
  api.provide('route', { method: 'GET', path: '/page', handler: () => 'hello' });
  // @ts-expect-error extensions-that-act §9.1: a route has a method
  api.provide('route', { path: '/page', handler: () => new Response('hello') });
  // @ts-expect-error §3: there is no such family
  api.observe('egress.sendng', 'gate', () => undefined);
  // @ts-expect-error §8: the stage declares no such code
  api.veto('egress.preparing', 'gate', () => cancel('too-late'));
  // @ts-expect-error §4: an observer returns nothing
  api.observe('egress.sent', 'gate', () => 1);
  // @ts-expect-error §6: content is a text
  api.mutate('egress.preparing', 'gate', () => ({ content: 1 }));
  // @ts-expect-error §7: notes is no text
  api.augment('egress.preparing', 'gate', () => ({ notes: 5 }));
  // @ts-expect-error §9: a route names an agent
  api.resolve('routing.resolving', 'gate', () => select({ account: 1 }));
  api.resolve('routing.resolving', 'ok', () => [select({ agentId: 'billing' }, { rank: 1 })]);

  // §4: what is async compiles on a sequential family, and on a sync-sequential one it does not
  api.observe('egress.sent', 'ok', async () => undefined);
  // @ts-expect-error §4
  api.observe('agent.output.delta', 'gate', async () => undefined);
  // @ts-expect-error §4
  api.mutate('transcript.message.writing', 'gate', async () => undefined);

  // options are those of the class
  api.veto('egress.preparing', 'ok', { failClosed: true, recheck: false, priority: 1 }, () =>
    allow(),
  );
  api.observe('egress.sent', 'ok', { detached: true, timeoutMs: 5 }, () => undefined);
  // @ts-expect-error failClosed is for a veto
  api.observe('egress.sent', 'gate', { failClosed: true }, () => undefined);
  // @ts-expect-error detached is for an observer
  api.veto('egress.preparing', 'gate', { detached: true }, () => allow());

  // §13.5: what is provided has the type of its kind
  api.provide('command', { name: 'ping', description: 'Answers.', run: () => 'pong' });
  // @ts-expect-error it is no channel
  api.provide('channel', { id: 'pigeon' });
  // @ts-expect-error there is no such kind
  api.provide('chanel', {});
  // §3.4: preview is for who judges or changes what streams
  api.veto('egress.preparing', 'ok', { preview: 'ok', failClosed: true }, () => allow());
  api.mutate('egress.preparing', 'ok', { preview: 'ok' }, () => undefined);
  // @ts-expect-error the stage judges no stream
  api.veto('agent.tool.calling', 'gate', { preview: 'ok' }, () => allow());
  // @ts-expect-error an observer holds nothing back
  api.observe('egress.preparing', 'gate', { preview: 'ok' }, () => undefined);
  // @ts-expect-error `ok` is all there is to say
  api.veto('egress.preparing', 'gate', { preview: true }, () => allow());

  // an event and a payload cannot be written
  api.observe('egress.sent', 'gate', ({ payload }) => {
    // @ts-expect-error §1
    payload.channel = 'other';
  });

  expectTypeOf(
    api.own('server', { port: 80, [Symbol.dispose]: () => undefined }).port,
  ).toEqualTypeOf<number>();
  // @ts-expect-error nothing says how it is undone
  api.own('server', { port: 80 });
};

describe('the types of an extension (§13)', () => {
  it('hold each registration to its family', () => {
    expect(gates).toBeTypeOf('function');
  });

  it('give setup what the schema reads', () => {
    const setup = (): void => undefined;
    const zod = defineExtension({
      id: 'zod',
      config: z.object({ from: z.string(), days: z.int().default(7) }),
      setup(_, config) {
        expectTypeOf(config).toEqualTypeOf<{ from: string; days: number }>();
      },
    });
    const typebox = defineExtension({
      id: 'typebox',
      config: fromTypebox(
        Type.Object({ from: Type.String(), days: Type.Optional(Type.Integer()) }),
      ),
      setup(_, config) {
        expectTypeOf(config.from).toEqualTypeOf<string>();
        expectTypeOf(config.days).toEqualTypeOf<number | undefined>();
      },
    });
    const plain = defineExtension({ id: 'plain', setup });
    const all: readonly Extension[] = [zod, typebox, plain];
    expect(all.map(({ id }) => id)).toEqual(['zod', 'typebox', 'plain']);
  });
});
