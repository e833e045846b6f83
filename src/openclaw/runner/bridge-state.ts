import { Recent } from '@sluice/sdk/stream/internal';
import {
  type Author,
  type Envelope,
  type Kernel,
  type Own,
  type Principal,
  perKernel,
} from 'sluice-kernel/internal';
import { LegacyBus } from '../facts/legacy-bus.js';
import type { LegacyHookRow, QueuedInjections } from '../hooks/row.js';
import { LegacyCall } from './legacy-call.js';
import type { Registered } from './registration.js';

/** Runs whose early answers are remembered: more than a host has under way. The oldest goes first. */
const maxRuns = 1_000;

/** A text of a plugin for the next prompt of a session, in the words of `agent_turn_prepare`. */
export interface Injection {
  readonly id: string;
  readonly pluginId: string;
  readonly pluginName: string;
  readonly text: string;
  readonly placement: 'prepend_context' | 'append_context';
  readonly createdAt: number;
  readonly ttlMs?: number;
  readonly idempotencyKey?: string;
  readonly metadata?: unknown;
}

/** The state of the plugin-hook bridge on one kernel. The runner and every loaded plugin of the kernel share it. */
export class LegacyBridge extends LegacyBus<LegacyHookRow, LegacyCall> {
  readonly #indexes = new Map<string, { next: number; live: number }>();
  /** The registered handlers, by `extension/contribution`. */
  readonly #contributions = new Map<string, Registered>();
  /** The calls of hooks that answer once per run, by hook and run. */
  readonly #runs = new Recent<string, LegacyCall>(maxRuns);
  readonly #told = new Set<string>();
  /** The next-turn injections of each plugin that has made some. */
  readonly injections = new Set<(...asked: Parameters<QueuedInjections>) => readonly Injection[]>();

  constructor(on: Kernel) {
    super(on, 'plugin-hooks');
  }

  /** Takes the next index of a plugin, zero-padded. It begins anew when the plugin has no registration left. */
  index(pluginId: string): string {
    const indexes = this.#indexes.get(pluginId) ?? { next: 0, live: 0 };
    this.#indexes.set(pluginId, indexes);
    indexes.live++;
    const index = indexes.next++;
    // a longer number would sort before a shorter one
    return index < 10_000 ? String(index).padStart(4, '0') : `~${String(index).padStart(12, '0')}`;
  }

  add(registered: Registered, contributionIds: readonly string[]): void {
    const { pluginId } = registered;
    for (const id of contributionIds) this.#contributions.set(`${pluginId}/${id}`, registered);
  }

  remove(registered: Registered, contributionIds: readonly string[]): void {
    const { pluginId } = registered;
    for (const id of contributionIds) this.#contributions.delete(`${pluginId}/${id}`);
    const indexes = this.#indexes.get(pluginId);
    for (const call of this.#runs.values()) call.forget(registered);
    if (indexes !== undefined && --indexes.live === 0) this.#indexes.delete(pluginId);
  }

  /** The registered handler of a contribution; `undefined` if the contribution is not of the bridge. */
  ownerOf({ extensionId, contributionId }: Author): Registered | undefined {
    return this.#contributions.get(`${extensionId}/${contributionId}`);
  }

  /** Returns whether a contribution belongs to a legacy handler. */
  isLegacy(author: Author): boolean {
    return this.ownerOf(author) !== undefined;
  }

  /** The call that a dispatch is for the handlers of a hook. */
  callOf(hook: string, row: LegacyHookRow, event: Envelope, principal?: Principal): LegacyCall {
    const announced = this.announced(event);
    if (announced?.row === row) return announced.call;
    return this.madeOf(row, event, () =>
      row.oncePerRun
        ? this.#callOfRun(hook, row, event)
        : this.#newCall(hook, row, event, principal),
    );
  }

  /** Tells a plugin, once per hook, that what it wrote to its event is not read. */
  readonly reportInPlace = (registered: Registered, fields: readonly string[], own: Own): void => {
    const { pluginId, hookName, row } = registered;
    const key = `${pluginId}/${hookName}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    own.log.warn(
      `plugin ${pluginId} changed ${fields.join(', ')} of its ${hookName} event in place, where nobody reads it; return ${row.instead}`,
      { pluginId, hookName, fields: [...fields] },
    );
  };

  #newCall(hook: string, row: LegacyHookRow, event: Envelope, principal?: Principal): LegacyCall {
    const queued: QueuedInjections = (...asked) =>
      [...this.injections]
        .flatMap((of) => of(...asked))
        .toSorted((one, other) => one.createdAt - other.createdAt);
    return new LegacyCall(hook, row, row.view(event, principal, queued), this.reportInPlace);
  }

  /** Keeps the answers of the first stage for the later ones. If no handler answered, all are asked again. */
  #callOfRun(hook: string, row: LegacyHookRow, event: Envelope): LegacyCall {
    const { runId } = event.payload as { readonly runId?: string };
    const key = `${hook} ${runId ?? event.correlationId}`;
    const isFirst = event.family === row.parts[0]?.family;
    const earlier = this.#runs.get(key);
    if (!isFirst && earlier !== undefined && earlier.answers.length > 0) {
      earlier.isCarried = true;
      return earlier;
    }
    const call = this.#newCall(hook, row, event);
    if (!isFirst) return call;
    this.#runs.set(key, call);
    return call;
  }
}

/** Gives the bridge of a kernel. It throws SluiceError `bad-option` if it is given no kernel. */
export const bridgeOf = perKernel((kernel) => new LegacyBridge(kernel));
