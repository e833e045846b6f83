import { mutators, observers, oneOfEach, patchKeys, vetoes } from './handlers.mjs';

const sync = 'sync-sequential';

function scenario(id, title, handlers, traits) {
  return { id, title, handlers, isAsync: false, mode: 'sequential', ...traits };
}

/** What is measured for every contender. `handlers` says how many take part. */
export const scenarios = [
  ...[0, 1, 5, 20].map((n) =>
    scenario(`observers-${n}`, `${n} sync observer${n === 1 ? '' : 's'}`, n, { kind: 'observers' }),
  ),
  ...[1, 5, 20].map((n) =>
    scenario(`async-observers-${n}`, `${n} async observer${n === 1 ? '' : 's'}, parallel`, n, {
      kind: 'observers',
      isAsync: true,
    }),
  ),
  ...[5, 20].map((n) =>
    scenario(`sync-mutators-${n}`, `${n} sync mutators, sync-sequential stage`, n, {
      kind: 'mutators',
      mode: sync,
    }),
  ),
  ...[5, 20].map((n) =>
    scenario(`mutators-${n}`, `${n} sync mutators, sequential stage`, n, { kind: 'mutators' }),
  ),
  ...[1, 5, 20].map((n) =>
    scenario(
      `async-mutators-${n}`,
      `${n} async mutator${n === 1 ? '' : 's'}, sequential stage`,
      n,
      { kind: 'mutators', isAsync: true },
    ),
  ),
  scenario('veto', 'veto by the 5th of 10, sequential stage', 10, { kind: 'vetoes', cancelAt: 5 }),
  scenario('mixed', 'one handler of each of 5 classes, sequential stage', 5, { kind: 'mixed' }),
];

/** Makes the handlers of a scenario, registers them, and returns the contender's dispatch. */
export function build(contender, one) {
  const { parameter } = contender;
  switch (one.kind) {
    case 'observers':
      return contender.observers(observers(parameter, one.handlers, one.isAsync), one.isAsync);
    case 'mutators':
      return contender.mutators(
        mutators(parameter, one.handlers, one.isAsync),
        one.mode,
        one.isAsync,
      );
    case 'vetoes':
      return contender.vetoes(vetoes(parameter, one.handlers, one.cancelAt));
    case 'mixed':
      return contender.mixed(oneOfEach(parameter));
  }
  throw new Error(`no scenario is of kind "${one.kind}"`);
}

/**
 * What a dispatch came to, in the same words for every contender: plain runners return a working object, a
 * verdict or a state, and Sluice an outcome.
 */
export function readResult(one, result) {
  if (one.kind === 'observers') return {};
  const outcome = typeof result?.status === 'string' ? result : undefined;
  const cancel =
    outcome !== undefined ? outcome.cancel : one.kind === 'vetoes' ? result : result.cancel;
  if (one.kind === 'vetoes') return { cancelled: cancel?.code };
  if (one.kind === 'mutators') {
    const payload = outcome?.payload ?? result;
    return { texts: patchKeys.map((key) => payload[key]) };
  }
  return {
    content: result.payload.content,
    topic: result.annotations.topic,
    route: result.selection?.target.route,
    cancelled: cancel?.code,
  };
}
