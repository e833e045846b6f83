import { journalError } from '../../src/journal/errors.js';
import { type Fence, type Journal, memoryJournal } from '../../src/journal/index.js';
import type { VirtualClock } from '../../src/testing/index.js';

interface Partition {
  owner: string | undefined;
  epoch: number;
  /** Its host does not know whether it has the partition still. */
  isStalled?: boolean;
  lost: AbortController;
  readonly leaving: Set<() => Promise<void>>;
}

/** One journal in memory that several hosts of a test share, each by a view of its own. */
export interface SharedJournal {
  /** The journal as one host has it. */
  of(host: string): Journal;
  /** The partition of a key. */
  partitionOf(key: string): number;
  /** Gives partitions to a host; those that had them learn it, unless they sleep; it learns it, unless it is untold. */
  give(
    host: string,
    partitions: readonly number[],
    how?: { readonly isAsleep?: boolean; readonly isUntold?: boolean },
  ): void;
  /** Takes a partition from its host in good order, as soon as what is under it has been let go. */
  drain(partition: number): Promise<void>;
  /** Tells the hosts that slept of what they have lost. */
  wake(): void;
  /** Ends the lease of a host by its own clock. */
  stall(host: string): void;
  /** Renews a lease that was over: the host has its partitions in the same epochs. */
  goOn(host: string): void;
  /** The hosts that begin nothing more. */
  readonly withdrawn: Set<string>;
  readonly all: readonly number[];
  /** Nobody is told of what another host has taken in. */
  isQuiet: boolean;
  /** Hears of each value that a host writes, once it is there. */
  onValue: (host: string, namespace: string) => void | Promise<void>;
  /** Hears of each value that a host is to write, before it does. */
  beforeValue: (host: string, body: string) => void | Promise<void>;
  /** Hears of each value that a host reads, and of the lane of updates, before it does. */
  onRead: (host: string, of: string) => void;
  /** Hears of each send that has ended, once that is kept. */
  onSendEnd: (sendId: string) => void;
  /** A namespace in which there is no room for a value. */
  fullOf: string | undefined;
  /** Its rows and its values cannot be read. */
  isAway: boolean;
}

/** The writes that take a fence first. */
const heldWrites = [
  ...(['release', 'endUpdate', 'prepare', 'final', 'sending', 'unsent', 'shown'] as const),
];

export function sharedJournal(clock: VirtualClock, partitions = 8): SharedJournal {
  const parts: Partition[] = Array.from({ length: partitions }, () => ({
    ...{ owner: undefined, epoch: 0, lost: new AbortController(), leaving: new Set() },
  }));
  const unheard: AbortController[] = [];
  const listeners = new Map<string, Set<() => void>>();
  let current = ''; // the host whose call is under way: a journal in memory changes its rows before a call returns
  const slotOf = (key: string): number =>
    [...key].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_537, 7) % 1_024;
  const lost = () =>
    journalError('journal-lost', { path: 'memory', problem: 'another host has it' });
  const ownershipOf = (host: () => string): Journal['ownership'] => ({
    partitionCount: partitions,
    slotOf,
    fenceOf: (slot): Fence | undefined => {
      const partition = slot % partitions;
      const { owner, epoch, lost, isStalled } = parts[partition] ?? {};
      if (owner !== host() || isStalled === true || epoch === undefined || lost === undefined)
        return undefined;
      return { partition, slot, epoch, signal: lost.signal };
    },
    epochOf: (partition) =>
      parts[partition]?.owner === host() ? parts[partition]?.epoch : undefined,
    partitions: () =>
      parts.flatMap(({ owner, isStalled }, at) => (owner === host() && !isStalled ? [at] : [])),
    onWork: (listener) => {
      const own = listeners.get(host()) ?? new Set();
      listeners.set(host(), own.add(listener));
      listener();
      return { [Symbol.dispose]: () => own.delete(listener) };
    },
    hint: () => undefined,
    onLeave: ({ partition }, leave) => {
      parts[partition]?.leaving.add(leave);
      return { [Symbol.dispose]: () => parts[partition]?.leaving.delete(leave) };
    },
    withdraw: () => void shared.withdrawn.add(host()),
  });
  const rows = memoryJournal({ clock, ownership: ownershipOf(() => current) });
  const wake = (host: string | undefined): void => {
    for (const listener of listeners.get(host ?? '') ?? []) listener();
  };
  const fenced = <T>({ partition, epoch }: Fence, write: () => Promise<T>): Promise<T> =>
    parts[partition]?.epoch === epoch ? write() : Promise.reject(lost());
  const reads = <Given extends unknown[], T>(read: (...given: Given) => Promise<T>) => {
    return (...given: Given): Promise<T> =>
      shared.isAway
        ? Promise.reject(journalError('database-io', { path: 'memory', problem: 'it is away' }))
        : read(...given);
  };
  const { get, write } = rows.keyValues;
  const keyValuesOf = (host: string): Journal['keyValues'] => ({
    ...rows.keyValues,
    get: reads(async (namespace, key) => {
      shared.onRead(host, namespace);
      return get(namespace, key);
    }),
    write: reads(async (namespace, key, value, given) => {
      await shared.beforeValue(host, value?.body ?? '');
      if (value !== undefined && namespace === shared.fullOf)
        return { status: 'full', keys: 1, bytes: 1 };
      const { signal } = given;
      if (signal !== undefined && parts.every((part) => part.lost.signal !== signal)) throw lost();
      const written = await write(namespace, key, value, given);
      await shared.onValue(host, namespace);
      return written;
    }),
  });
  const shared: SharedJournal = {
    ...{
      isQuiet: false,
      isAway: false,
      fullOf: undefined,
      onValue: () => undefined,
      beforeValue: () => undefined,
      onRead: () => undefined,
      onSendEnd: () => undefined,
    },
    partitionOf: (key) => slotOf(key) % partitions,
    all: parts.map((_, at) => at),
    withdrawn: new Set(),
    wake: () => {
      for (const one of unheard.splice(0)) one.abort(lost());
    },
    drain: async (at) => {
      const part = parts[at];
      if (part === undefined) return;
      const { owner } = part;
      part.owner = undefined; // nothing is begun in it
      for (const leave of part.leaving) await leave();
      if (part.owner === undefined && owner !== undefined) part.lost.abort(lost());
    },
    stall: (host) => {
      for (const part of parts.filter(({ owner }) => owner === host)) {
        part.isStalled = true;
        part.lost.abort(lost());
      }
    },
    goOn: (host) => {
      for (const part of parts.filter(({ owner }) => owner === host))
        Object.assign(part, { isStalled: false, lost: new AbortController() });
      wake(host);
    },
    of: (host) => ({
      ...{
        ...rows,
        keyValues: keyValuesOf(host),
        updates: reads(async (filter) => {
          shared.onRead(host, filter?.lane ?? '');
          return rows.updates(filter);
        }),
        sends: reads(rows.sends),
      },
      ownership: ownershipOf(() => host),
      ...Object.fromEntries(
        heldWrites.map((name) => [
          name,
          (fence: Fence, ...rest: unknown[]) =>
            fenced(fence, () => Reflect.apply(rows[name], rows, [fence, ...rest])),
        ]),
      ),
      endSend: (fence, sendId, end) =>
        fenced(fence, () => rows.endSend(fence, sendId, end)).then(() => shared.onSendEnd(sendId)),
      accept: (update, isBegun, mostOpen) => {
        current = host;
        const { owner } = parts[(update.slot ?? 0) % partitions] ?? {};
        const accepted = rows.accept(update, isBegun, mostOpen);
        if (owner !== host && !shared.isQuiet) void accepted.then(() => wake(owner));
        return accepted;
      },
      begin: (...given) => {
        current = host;
        return rows.begin(...given);
      },
      close: async () => undefined, // the others go on
    }),
    give: (host, given, { isAsleep = false, isUntold = false } = {}) => {
      for (const at of given) {
        const before = parts[at];
        const epoch = (before?.epoch ?? 0) + 1;
        parts[at] = { owner: host, epoch, lost: new AbortController(), leaving: new Set() };
        if (!isAsleep) before?.lost.abort(lost());
        else if (before !== undefined) unheard.push(before.lost);
      }
      if (!isUntold) wake(host);
    },
  };
  return shared;
}
