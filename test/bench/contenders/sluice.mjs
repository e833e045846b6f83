import { Type } from 'typebox';
import { patchKeys } from '../handlers.mjs';

const text = Type.String();
const payload = Type.Object({
  content: text,
  channel: text,
  accountId: text,
  senderId: text,
  senderName: text,
  conversationId: text,
  messageId: text,
  threadId: text,
  isGroup: Type.Boolean(),
  receivedAt: Type.Integer(),
  replyTo: Type.Union([text, Type.Null()]),
});
const patch = Type.Partial(
  Type.Object({
    ...Object.fromEntries(patchKeys.map((key) => [key, text])),
    replyTo: Type.Union([text, Type.Null()]),
  }),
);
const annotations = Type.Object({ topic: Type.Optional(text) });
const selection = Type.Object({ route: text });

const watching = 'bench.watching';
const deciding = 'bench.deciding';
const writing = 'bench.writing';
const sorting = 'bench.sorting';

/** Stages of the three modes. Only the mixed one selects: a stage without a resolver has no selection to miss. */
function stagesOf({ defineStage }) {
  const cancelCodes = ['quiet-hours'];
  return [
    defineStage({ family: watching, classes: ['observer'], mode: 'parallel', payload }),
    defineStage({
      family: deciding,
      classes: ['mutator', 'veto'],
      mode: 'sequential',
      payload,
      patch,
      cancelCodes,
    }),
    defineStage({ family: writing, classes: ['mutator'], mode: 'sync-sequential', payload, patch }),
    defineStage({
      family: sorting,
      classes: ['observer', 'augmenter', 'mutator', 'veto', 'resolver'],
      mode: 'sequential',
      payload,
      patch,
      annotations,
      selection,
      cancelCodes,
    }),
  ];
}

/**
 * The whole `dispatch`: envelope, freezing, checked patches, outcome. The kernel comes in, so that the benchmark
 * measures the built one and the test the source.
 */
export function sluiceOf(kernelModule) {
  const { createKernel, defineStage } = kernelModule;
  const kernelWith = (family, contributions) => {
    const kernel = createKernel({ stages: stagesOf(kernelModule) });
    contributions.forEach((one, i) => {
      kernel.contribute({
        family,
        class: one.class,
        extensionId: 'bench',
        id: String(i).padStart(5, '0'),
        handler: one.handler,
      });
    });
    return kernel;
  };
  const all = (name, handlers) => handlers.map((handler) => ({ class: name, handler }));
  const dispatching = (family, contributions) => {
    const kernel = kernelWith(family, contributions);
    return (given) => kernel.dispatch(family, given);
  };
  return {
    name: 'sluice',
    parameter: '{ payload }',
    observers: (handlers) => dispatching(watching, all('observer', handlers)),
    mutators: (handlers, mode) => {
      if (mode === 'sequential') return dispatching(deciding, all('mutator', handlers));
      const kernel = kernelWith(writing, all('mutator', handlers));
      return (given) => kernel.dispatchSync(writing, given);
    },
    vetoes: (handlers) => dispatching(deciding, all('veto', handlers)),
    mixed: (handlers) => dispatching(sorting, handlers),
    hub: (families) => {
      const stages = families.map((family) =>
        defineStage({ family, classes: ['observer'], mode: 'parallel', payload }),
      );
      const kernel = createKernel({ stages });
      let id = 0;
      return {
        add: (family, handler) =>
          kernel.contribute({
            family,
            class: 'observer',
            extensionId: 'bench',
            id: `${id++}`,
            handler,
          }),
        dispatch: (family, given) => kernel.dispatch(family, given),
      };
    },
  };
}
