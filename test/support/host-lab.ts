import { expect } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import {
  createHost,
  type Host,
  type HostOptions,
  type HostPlugin,
  type HostProgram,
} from '../../src/host/index.js';
import type { MessageEnd } from '../../src/journal/index.js';
import {
  definedFields,
  type FamilyName,
  type Instrument,
  type Kernel,
  type Outcome,
} from '../../src/kernel/internal.js';
import {
  createTestKernel,
  type TestKernel,
  type VirtualClock,
  virtualClock,
} from '../../src/testing/index.js';
import { disorderOf, type Watched, watched } from './ordered.js';
import { outcomesOf } from './outcomes-of.js';
import { type Said, type ScriptedChannel, scriptedChannel } from './scripted-channel.js';

/** A running host with a scripted channel, in virtual time. */
export interface HostLab extends AsyncDisposable {
  readonly host: Host;
  readonly kernel: Kernel;
  readonly clock: VirtualClock;
  readonly channel: ScriptedChannel;
  readonly log: TestKernel['log'];
  /** Every dispatch that has ended, in order. */
  readonly outcomes: readonly Outcome[];
  /** How each message ended, in order. */
  readonly ends: readonly MessageEnd[];
  /** The families of the dispatches that have ended, in order. */
  families(): readonly FamilyName[];
  /** The outcomes of one family. */
  of<F extends FamilyName>(family: F): readonly Outcome<F>[];
  /** Says something, and waits until it is done with. */
  say(said: string | Said, channel?: ScriptedChannel): Promise<MessageEnd>;
  /** The texts that came out of the channel. */
  texts(): readonly string[];
}

export interface HostLabOptions extends Partial<HostOptions>, Omit<HostProgram, 'clock'> {
  readonly channel?: ScriptedChannel;
  readonly contribute?: (kernel: Kernel) => void;
  /** Loads plugins into the lab's kernel, for its host to run. */
  readonly loadPlugins?: (kernel: Kernel) => readonly HostPlugin[];
  readonly clock?: VirtualClock;
  readonly grants?: Readonly<Record<string, readonly string[]>>;
  readonly leastPrivilege?: boolean;
  readonly instrument?: Instrument;
}

export async function hostLab(options: HostLabOptions = {}): Promise<HostLab> {
  const { channel = scriptedChannel(), contribute, clock = virtualClock(), ...rest } = options;
  const { grants, leastPrivilege = false, loadPlugins, instrument, ...hostOptions } = rest;
  const given = definedFields({ grants, instrument });
  const test = createTestKernel({ clock, leastPrivilege, ...given });
  contribute?.(test.kernel);
  const ends: MessageEnd[] = [];
  const waiting = new Map<string, (end: MessageEnd) => void>();
  const ids = { session: 0, run: 0 };
  const { agents: offered = [{ id: 'main', provider: echoProvider() }] } = options;
  const providers: Watched[] = [];
  const agents = offered.map((agent) => {
    const one = watched(agent.provider);
    providers.push(one);
    return { ...agent, provider: one.provider };
  });
  const host = createHost({
    channels: [channel],
    kernel: test.kernel,
    clock,
    logger: test.log,
    newId: (kind) => `${kind}-${++ids[kind]}`,
    plugins: loadPlugins?.(test.kernel) ?? [],
    ...hostOptions,
    agents,
    onMessageEnd: (end) => {
      ends.push(end);
      waiting.get(end.updateId ?? '')?.(end);
    },
  });
  await host.start();
  let updates = 0;
  return {
    host,
    kernel: test.kernel,
    clock,
    channel,
    log: test.log,
    outcomes: test.outcomes,
    ends,
    families: () => test.outcomes.map(({ event }) => event.family),
    of: (family) => outcomesOf(test.outcomes, family),
    say: (said, by = channel) => {
      const updateId = `u-${++updates}`;
      return new Promise((resolve) => {
        waiting.set(updateId, resolve);
        void by.receive(typeof said === 'string' ? { text: said } : said, updateId);
      });
    },
    texts: () => channel.sent.map(({ content }) => content),
    [Symbol.asyncDispose]: async () => {
      const stopping = host.stop({ timeoutMs: 1_000 });
      await clock.advance(10_000);
      await stopping;
      // seed 001: the order of session events is asserted wherever a turn is driven. Agents that only stand in for one
      // yield no agent_start, and are left alone.
      const whole = providers.flatMap(({ runs }) =>
        runs.filter(([first]) => first?.type === 'agent_start'),
      );
      expect(whole.flatMap(disorderOf)).toEqual([]);
    },
  };
}
