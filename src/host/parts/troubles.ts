import type { Journal } from '@sluice/journal';
import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { ExtensionStatus } from '@sluice/sdk/extension';
import type { AgentTrouble } from '@sluice/sdk/stream';
import { definedFields, type Kernel, type Logger, nameOf } from 'sluice-kernel/internal';
import type { Counts } from './counts.js';
import type { AgentDefinition } from './options.js';

/** Something that an operator should look at, though the host runs. Plain data. */
export interface HostTrouble {
  readonly code:
    | 'dead-letters'
    | 'quarantined'
    | 'extension-refused'
    | 'veto-failed-open'
    | 'agent-part'
    | 'account-degraded';
  /** The handler, the extension, the account or the part of an agent, if it is about one. */
  readonly whose?: string;
  /** The fault, if the code does not say all. */
  readonly what?: string;
  /** Dead letters, or failures since the start. */
  readonly count: number;
}

const hints: Readonly<Record<HostTrouble['code'], string>> = {
  'dead-letters': 'Messages failed: `sluice journal list --state dead` shows them.',
  quarantined: 'It fails again and again, and is not called for a while.',
  'extension-refused': 'It could not be loaded, and does not run.',
  'veto-failed-open': 'It failed, and fails open: what it was to judge has passed.',
  'agent-part': 'An agent works without it; `sluice doctor` says more.',
  'account-degraded': 'It may lose messages, or take none in; the log says more.',
};

/** The parts of a host that troubles are found in. */
interface Places {
  readonly kernel: Kernel;
  readonly logger: Logger;
  readonly journal: Pick<Journal, 'counts'>;
  readonly counts: Counts;
  readonly extensions: { readonly statuses: readonly ExtensionStatus[] };
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly channels: readonly Pick<ChannelPlugin, 'id' | 'troubles'>[];
}

/** The troubles of a host (sight §7). Each is told in the log when it begins, as an error. */
export class Troubles implements Disposable {
  readonly #places: Places;
  readonly #failedOpen = new Map<string, number>();
  #told: ReadonlySet<string> = new Set();
  readonly #tap: Disposable;
  #dead = 0;
  /** The counts when the dead letters were counted last. */
  #countedAt: number | undefined;

  constructor(places: Places) {
    this.#places = places;
    this.#tap = places.kernel.tap({
      failure: ({ extensionId, contributionId, policy }, { family }) => {
        if (policy !== 'open' || extensionId === undefined || contributionId === undefined) return;
        const whose = nameOf({ extensionId, contributionId });
        const stage = places.kernel.stages().find(({ stage }) => stage.family === family);
        const found = stage?.handlers.find((one) => nameOf(one) === whose);
        if (found?.class !== 'veto') return;
        this.#failedOpen.set(whose, (this.#failedOpen.get(whose) ?? 0) + 1);
      },
    });
  }

  [Symbol.dispose](): void {
    this.#tap[Symbol.dispose]();
  }

  /** The troubles that there are now. */
  list(): readonly HostTrouble[] {
    const { kernel, extensions, agents, channels } = this.#places;
    const parts = [...agents.values()].flatMap(troublesOf);
    const ofAgents = new Map<string, HostTrouble>(); // who share a part
    for (const { whose, what } of parts)
      ofAgents.set(whose + what, { code: 'agent-part', whose, what, count: 1 });
    const refused = extensions.statuses.filter(({ status }) => status === 'disabled');
    return [
      ...(this.#dead > 0 ? [{ code: 'dead-letters', count: this.#dead } as const] : []),
      ...kernel
        .stats()
        .quarantined.map((one) => ({ code: 'quarantined', whose: nameOf(one), count: 1 }) as const),
      ...refused.map(
        ({ extensionId }) => ({ code: 'extension-refused', whose: extensionId, count: 1 }) as const,
      ),
      ...[...this.#failedOpen].map(
        ([whose, count]) => ({ code: 'veto-failed-open', whose, count }) as const,
      ),
      ...ofAgents.values(),
      ...channels.flatMap((channel) =>
        troublesOfChannel(channel).map(
          ({ accountId, what }) =>
            ({
              code: 'account-degraded',
              whose: `${channel.id}/${accountId}`,
              what,
              count: 1,
            }) as const,
        ),
      ),
    ];
  }

  /** Counts the dead letters anew if their number may have changed, and tells what is new. */
  async look(isChanged: boolean): Promise<void> {
    const { journal, counts, logger } = this.#places;
    const at = counts.deadLetters + counts.resumed;
    if (isChanged || at !== this.#countedAt) {
      this.#countedAt = at;
      this.#dead = (await journal.counts()).updates.dead;
    }
    const now = this.list().map(
      (one) => [JSON.stringify([one.code, one.whose, one.what]), one] as const,
    );
    const told = this.#told;
    this.#told = new Set(now.map(([key]) => key)); // it is told again if it was over meanwhile
    for (const [key, { code, whose, what }] of now) {
      if (told.has(key)) continue;
      const name = whose ?? 'the host'; // of a handler or an extension
      const fields = { trouble: code, hint: hints[code], ...definedFields({ what }) };
      logger.error(`${name} is in trouble: ${code}`, fields);
    }
  }
}

/** The faults of parts that an agent works with. A provider that fails to tell them is one itself. */
function troublesOf({ id, provider }: AgentDefinition): readonly AgentTrouble[] {
  try {
    return provider.troubles?.() ?? [];
  } catch {
    return [{ whose: id, what: 'its provider fails to tell its troubles' }];
  }
}

/** The faults of accounts. A channel that fails to tell them has one itself. */
function troublesOfChannel(
  channel: Pick<ChannelPlugin, 'troubles'>,
): ReturnType<NonNullable<ChannelPlugin['troubles']>> {
  try {
    return channel.troubles?.() ?? [];
  } catch {
    return [{ accountId: '*', what: 'its channel fails to tell its troubles' }];
  }
}
