/** One way in which the bridge of a bus deliberately differs from OpenClaw 2026.3. */
export interface BusDivergence<Name extends string = string> {
  readonly name: Name;
  readonly bus: 'internal-hooks' | 'agent-events';
  /** The difference in a sentence: the legacy behaviour, then ours. */
  readonly what: string;
  readonly reason: string;
}

const rows = [
  {
    name: 'hanging-hook-is-cut',
    bus: 'internal-hooks',
    what: 'There, a handler that never settles blocks the command or compaction for ever; here it is passed over after a minute.',
    reason: 'One handler must not be able to stop a command.',
  },
  {
    name: 'hooks-at-once-share-a-tick',
    bus: 'internal-hooks',
    what: 'There, the bus awaits between any two handlers; here not after one that returned at once.',
    reason: 'A synchronous handler costs no await.',
  },
  {
    name: 'unreadable-hook-error-is-told',
    bus: 'internal-hooks',
    what: 'There, a thrown value that cannot be made a text makes the trigger itself reject and the later handlers are not called; here it is told as an error that cannot be read.',
    reason: 'A failure of one handler is that handler’s.',
  },
  {
    name: 'one-fact-one-event',
    bus: 'internal-hooks',
    what: 'There, a message that the plugin hooks told of is told again with its own event; here its handlers are called once, with an event made of what the first bus said.',
    reason: 'One fact is one canonical event.',
  },
  {
    name: 'compaction-keys-hear-all',
    bus: 'internal-hooks',
    what: 'There, session:compact:before and :after tell of manual compactions; here also of those that another bus or a host tells of.',
    reason: 'A canonical event reaches every handler of its family.',
  },
  {
    name: 'client-reset-is-a-reset',
    bus: 'internal-hooks',
    what: 'There, before_reset is not called when a client resets a session; here that is a session.resetting, which its handlers hear.',
    reason: 'A session that begins anew is one fact, whoever asked for it.',
  },
  {
    name: 'listener-rejection-is-observed',
    bus: 'agent-events',
    what: 'There, the rejection of a promise that a listener returned is handled by nobody and can end the process; here it is observed and counted.',
    reason: 'A listener must not be able to end its host.',
  },
  {
    name: 'runs-are-forgotten',
    bus: 'agent-events',
    what: 'There, numbers and contexts of runs are kept for ever; here of 10,000 runs, and one that was forgotten counts from 1 again.',
    reason: 'A host that runs for months must not fill its memory with runs that have ended.',
  },
  {
    name: 'aborted-run-ends',
    bus: 'agent-events',
    what: 'There, an aborted run of the embedded agent tells of no end; here a run that a turn drives ends with aborted: true.',
    reason: 'Whoever shows a run has to learn that it is over.',
  },
] as const satisfies readonly BusDivergence[];

/** The name of a divergence of a bus. */
export type BusDivergenceName = (typeof rows)[number]['name'];

/**
 * Every allowed difference between the bridges of the internal hooks and agent events and the real modules of OpenClaw
 * 2026.3.13, by name. Each is shown by a test; generated sequences find no other.
 *
 * @example
 * busDivergences.filter(({ bus }) => bus === 'agent-events').map(({ name }) => name);
 */
export const busDivergences: readonly BusDivergence<BusDivergenceName>[] = rows;
