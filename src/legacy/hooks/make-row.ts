import type { LegacyHookRow } from './row.js';

type Given<Event, Context, Result> = Omit<
  LegacyHookRow<Event, Context, Result>,
  'kind' | 'status' | 'chains' | '~shape'
>;

/** Makes the row of a hook that only watches. */
export function voidHook<Event, Context>(
  row: Pick<Given<Event, Context, undefined>, 'parts' | 'why' | 'announce' | 'view' | 'wants'> &
    Partial<Pick<Given<Event, Context, undefined>, 'instead'>>,
): LegacyHookRow<Event, Context, undefined, 'void'> {
  return {
    kind: 'void',
    coverage: ['observe'],
    status: 'bridged',
    merge: 'none: nothing is returned',
    instead: 'nothing: this hook only observes',
    result: () => undefined,
    ...row,
  };
}

/** Makes the row of a hook whose handlers change something, or refuse it. */
export function modifyingHook<Event, Context, Result>(
  row: Given<Event, Context, Result>,
): LegacyHookRow<Event, Context, Result, 'modifying'> {
  return { kind: 'modifying', status: 'bridged', ...row };
}

/** Makes the row of a synchronous hook. Each handler gets the message that the one before it left. */
export function syncHook<Event, Context, Result>(
  row: Given<Event, Context, Result>,
): LegacyHookRow<Event, Context, Result, 'sync'> {
  return { kind: 'sync', status: 'bridged', chains: 'message', ...row };
}
