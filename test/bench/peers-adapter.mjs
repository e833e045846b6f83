/**
 * Sluice as a contender of a harness that measures hook runners side by side: each function takes how many
 * handlers, makes them with the harness's kit, and returns a dispatch of its event. Build first.
 */
import { Type } from 'typebox';
import { createKernel, defineStage } from '../../dist/index.js';

const number = Type.Optional(Type.Integer());
const keys = Type.Object(
  Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`k${i}`, number])),
);
const message = Type.Object({
  role: Type.String(),
  toolCallId: Type.String(),
  toolName: Type.String(),
  content: Type.Array(Type.Any()),
  isError: Type.Boolean(),
  timestamp: Type.Integer(),
  seq: Type.Integer(),
});
const seq = Type.Object({ seq: number });
const anything = Type.Object({});

/** A kernel of one stage with these handlers. */
function kernelOf(row, name, handlers) {
  const kernel = createKernel({ stages: [defineStage(row)] });
  const { family } = row;
  handlers.forEach((handler, i) => {
    kernel.contribute({
      family,
      class: name,
      extensionId: 'bench',
      id: String(i).padStart(5, '0'),
      handler,
    });
  });
  return kernel;
}

export function makeObserver(n, isAsync, kit) {
  const family = 'bench.watching';
  const row = { family, classes: ['observer'], mode: 'parallel', payload: anything };
  const handlers = kit.observers(n, isAsync).map((handler) => (call) => handler(call.payload));
  const kernel = kernelOf(row, 'observer', handlers);
  return (event) => kernel.dispatch(family, event);
}

function mutating(family, mode, kit, handlers) {
  const row = { family, classes: ['mutator'], mode, payload: keys, patch: keys };
  const wrapped = handlers.map(
    (handler) =>
      ({ payload }) =>
        handler(one, payload),
  );
  const one = { inc: 1 }; // the harness's event: its handlers read nothing else of it
  const kernel = kernelOf(row, 'mutator', wrapped);
  return mode === 'sequential'
    ? () => kernel.dispatch(family, kit.work())
    : () => kernel.dispatchSync(family, kit.work());
}

export function makeMutator(n, isAsync, kit) {
  const mode = isAsync ? 'sequential' : 'sync-sequential';
  return mutating('bench.writing', mode, kit, kit.mutators(n, isAsync));
}

export function makeSequentialSync(n, kit) {
  return mutating('bench.deciding', 'sequential', kit, kit.mutators(n, false));
}

export function makeVeto(n, cancelAt, kit, isAsync) {
  const family = 'bench.judging';
  const mode = isAsync ? 'sequential' : 'sync-sequential';
  const row = { family, classes: ['veto'], mode, payload: anything, cancelCodes: ['quiet-hours'] };
  const verdict = { kind: 'cancel', code: 'quiet-hours' };
  const judge = isAsync
    ? (handler) => async (call) =>
        (await handler(call.payload)) === undefined ? undefined : verdict
    : (handler) => (call) => (handler(call.payload) === undefined ? undefined : verdict);
  const kernel = kernelOf(row, 'veto', kit.vetoes(n, cancelAt, isAsync).map(judge));
  return isAsync
    ? (event) => kernel.dispatch(family, event).then((outcome) => outcome.status === 'cancelled')
    : (event) => kernel.dispatchSync(family, event).status === 'cancelled';
}

/** Only patches: a handler that returns a whole message is what Sluice does without. */
export function makePersist(n, kit, style) {
  if (style !== 'patch') return undefined;
  const family = 'bench.persisting';
  const row = {
    family,
    classes: ['mutator'],
    mode: 'sync-sequential',
    payload: message,
    patch: seq,
  };
  const handlers = kit.persisters(n, style);
  const wrapped = handlers.map(
    (handler) =>
      ({ payload }) =>
        handler(undefined, payload),
  );
  const kernel = kernelOf(row, 'mutator', wrapped);
  return (event) => kernel.dispatchSync(family, { ...event.message });
}

export function makeRegistry(families, per, kit) {
  const names = Array.from({ length: families }, (_, i) => `bench.family-${i}`);
  const stages = names.map((family) =>
    defineStage({ family, classes: ['observer'], mode: 'parallel', payload: anything }),
  );
  const kernel = createKernel({ stages });
  names.forEach((family, at) => {
    kit.observers(per).forEach((handler, i) => {
      kernel.contribute({
        family,
        class: 'observer',
        extensionId: `bench-${at}`,
        id: `${i}`,
        handler,
      });
    });
  });
  return { emit: (at, event) => kernel.dispatch(names[at], event), keep: kernel };
}

export const isolates = true;
export const readWork = (outcome) => outcome.payload;
export const readMessage = (outcome) => outcome.payload;
