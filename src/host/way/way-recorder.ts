import { tapRelayOf } from '@sluice/sdk/extension/internal';
import {
  type Clock,
  isThenable,
  type Kernel,
  type KernelOptions,
  type Logger,
  silentLogger,
  systemClock,
  type Tap,
} from 'sluice-kernel/internal';
import type { LiveFact, NewFact } from './way-record.js';

declare module '@sluice/sdk/extension' {
  interface Facts {
    readonly live: LiveFact;
  }
}

/** Hears each fact when it has happened. An error that it throws is logged, and changes nothing. */
export type WayListener = (fact: LiveFact) => void;

/** The one place where the facts of a host come together. */
export interface WayRecorder {
  /** Somebody listens. */
  readonly isHeard: boolean;
  /** Hears every fact from now on. @param whose for the log. */
  listen(listener: WayListener, whose?: { readonly extensionId: string }): Disposable;
  /** Records a fact, which is made only if somebody listens. */
  record(make: () => NewFact): void;
  /**
   * Options for the kernel of the host: it tells of its dispatches from the first one on, with a trace. Without a listener there
   * are none, and nothing is paid.
   */
  kernelOptions(): Pick<KernelOptions, 'tap'>;
  /** Hears a kernel and its extensions: a kernel that was not made with `kernelOptions` is tapped as long as somebody listens. */
  attach(kernel: Kernel): void;
}

/**
 * Makes a recorder (sight §1). Give the same one to the kernel and to the host.
 *
 * @example
 * const way = wayRecorder();
 * using _lines = way.listen((fact) => console.log(fact.atMs, fact.kind, fact.id));
 * const kernel = createKernel(way.kernelOptions());
 * const host = createHost({ kernel, way, agents, channels });
 */
export function wayRecorder({
  clock = systemClock,
  logger = silentLogger,
}: {
  readonly clock?: Clock;
  readonly logger?: Logger;
} = {}): WayRecorder {
  let listeners: readonly WayListener[] = [];
  let kernel: Kernel | undefined;
  let tapped: Disposable | undefined;
  let isBuiltIn = false;

  const tell = (fact: LiveFact): void => {
    for (const listener of listeners) listener(fact);
  };
  const tap: Tap = {
    trace: true,
    outcome: (outcome) => {
      const { eventId: id, correlationId, occurredAt: atMs } = outcome.event;
      tell({ kind: 'dispatch', id, correlationId, atMs, outcome });
    },
    audit: (record, event) => {
      const { eventId: parentId, correlationId, occurredAt: atMs } = event;
      const id = `${parentId}/${record.extensionId}/${record.contributionId}`;
      tell({ kind: 'audit', id, parentId, correlationId, atMs, record, event });
    },
  };
  const change = (next: readonly WayListener[]): void => {
    listeners = next;
    if (isBuiltIn || kernel === undefined) return;
    if (next.length > 0) tapped ??= kernel.tap(tap);
    else {
      tapped?.[Symbol.dispose]();
      tapped = undefined;
    }
  };

  const recorder: WayRecorder = {
    get isHeard() {
      return listeners.length > 0;
    },
    listen: (listener, whose) => {
      const failed = (error: unknown): void =>
        logger.error('a listener of the ways failed', {
          ...(whose && { extensionId: whose.extensionId }),
          error,
        });
      const own: WayListener = (fact) => {
        try {
          const result: unknown = listener(fact); // JavaScript may return a promise
          if (typeof result === 'object' && result !== null && isThenable(result))
            Promise.resolve(result).catch(failed);
        } catch (error) {
          failed(error);
        }
      };
      change([...listeners, own]);
      return { [Symbol.dispose]: () => change(listeners.filter((one) => one !== own)) };
    },
    record: (make) => {
      if (listeners.length === 0) return;
      tell({ atMs: clock.now(), ...make() });
    },
    kernelOptions: () => {
      if (listeners.length === 0) return {};
      isBuiltIn = true;
      return { tap };
    },
    attach: (given) => {
      kernel = given;
      change(listeners);
      tapRelayOf(given).from(recorder);
    },
  };
  return recorder;
}
