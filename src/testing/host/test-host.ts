import { echoProvider } from '@sluice/agent';
import {
  createHost,
  type Host,
  type HostExtension,
  type HostJournal,
  type HostOptions,
  type HostProgram,
  type StartReport,
} from '@sluice/host';
import { rolesOf } from '@sluice/host/internal';
import { type Journal, type MessageEnd, memoryJournal, memoryStore } from '@sluice/journal';
import type { Extension } from '@sluice/sdk/extension';
import type { TranscriptEntry } from '@sluice/sdk/stream';
import { definedFields, type FamilyName, type Kernel, type Outcome } from 'sluice-kernel/internal';
import type { CollectingLogger } from '../collecting-logger.js';
import { createTestKernel } from '../test-kernel.js';
import { type VirtualClock, virtualClock } from '../virtual-clock.js';
import { type FakeChannel, fakeChannel, type Said } from './fake-channel.js';

/** The end of a message in a test host, with everything that was dispatched for it. */
export interface TestMessageEnd extends MessageEnd {
  /** The outcomes of its dispatches, in order. */
  readonly outcomes: readonly Outcome[];
}

/** The options of a test host: those of a host, where a test does not take their place. */
export interface TestHostOptions
  extends Partial<Omit<HostOptions, 'channels' | 'extensions' | 'journal'>>,
    Omit<HostProgram, 'kernel' | 'clock' | 'logger'> {
  /** The extensions under test, as they are, or with their config. */
  readonly extensions?: readonly (Extension | HostExtension)[];
  /** The channel that `say` speaks in; a `fakeChannel` by default. */
  readonly channel?: FakeChannel;
  /** Channels besides it. */
  readonly channels?: HostOptions['channels'];
  /** The journal; by default one in memory. */
  readonly journal?: HostOptions['journal'];
  /** The clock; by default one of its own. */
  readonly clock?: VirtualClock;
}

/** A running host in a test's hands, in virtual time. */
export interface TestHost extends AsyncDisposable {
  readonly host: Host;
  readonly kernel: Kernel;
  readonly clock: VirtualClock;
  readonly channel: FakeChannel;
  readonly journal: Journal;
  readonly log: CollectingLogger;
  /** Every dispatch that has ended, in order. */
  readonly outcomes: readonly Outcome[];
  /** The ends of the messages, in order. */
  readonly ends: readonly TestMessageEnd[];
  /** The outcomes of one family. */
  of<F extends FamilyName>(family: F): readonly Outcome<F>[];
  /**
   * Says something in the channel. Resolves at the end of the message. If a handler waits for time to pass, advance the clock
   * before you await it.
   */
  say(said: string | Said): Promise<TestMessageEnd>;
  /**
   * Presses the newest button of a label. The channel has to show buttons: `fakeChannel({ interactive: ['buttons'] })`.
   *
   * @throws Error if no message has such a button.
   * @example
   * await test.press('Yes'); // answers a question: its handler runs after that
   */
  press(label: string, from?: Omit<Said, 'text' | 'press'>): Promise<TestMessageEnd>;
  /** The texts that went out by the channel, in order. */
  replies(): readonly string[];
  /** The transcript of a session; by default of the session of the last message that reached one. */
  transcript(sessionKey?: string): Promise<readonly TranscriptEntry[]>;
}

/**
 * Starts a host for a test: a fake channel, the echo agent, a journal and a store in memory, virtual time, and your extensions.
 * The host's default choices are there, so that a message that no resolver routes goes to the first agent.
 *
 * @throws SluiceError (as a rejection) of an extension that could not be loaded, and as `createHost`.
 * @example
 * await using test = await startTestHost({ extensions: [{ extension: limiter, config: { perMinute: 1 } }] });
 * expectReply(await test.say('hello'), 'hello');
 * expectDenied(await test.say('again'), { code: 'rate-limited' });
 */
export async function startTestHost(options: TestHostOptions = {}): Promise<TestHost> {
  const { channel = fakeChannel(), clock = virtualClock(), extensions = [], ...rest } = options;
  const { grants, leastPrivilege, overrides, audit, channels = [], ...hostOptions } = rest;
  const { kernel, log, outcomes } = createTestKernel({
    clock,
    ...definedFields({ grants, leastPrivilege, overrides, audit }),
  });
  const { journal: given = {}, store = memoryStore() } = options;
  const settings: HostJournal = 'keyValues' in given ? { opened: given } : given;
  const { opened: journal = memoryJournal({ clock }) } = settings;
  const ends: TestMessageEnd[] = [];
  const said = new Map<string, readonly string[]>();
  const configured = rolesOf(options.roles);
  const waiting = new Map<string, (end: TestMessageEnd) => void>();
  const ids = { session: 0, run: 0, said: 0 };
  const before = (await journal.updates({ limit: 10_000 })).length; // of hosts before this one
  const nextId = (kind: keyof typeof ids): string =>
    [kind, ...(before === 0 ? [] : [before]), ++ids[kind]].join('-');
  const host = createHost({
    agents: [{ id: 'main', provider: echoProvider() }],
    newId: nextId,
    ...hostOptions,
    kernel,
    clock,
    logger: log,
    journal: { ...settings, opened: journal },
    store,
    channels: [channel, ...channels],
    extensions: extensions.map((one) => ('setup' in one ? { extension: one } : one)),
    roles: (sender) => said.get(sender.senderId) ?? configured(sender),
    onMessageEnd: (end) => {
      options.onMessageEnd?.(end);
      const { correlationId } = end;
      const own = outcomes.filter(({ event }) => event.correlationId === correlationId);
      const told = { ...end, outcomes: own };
      ends.push(told);
      waiting.get(end.updateId ?? '')?.(told);
    },
  });
  const stop = async (): Promise<void> => {
    const stopping = host.stop({ timeoutMs: 1_000 });
    await clock.advance(10_000); // whatever is undone may wait
    await stopping;
  };
  const { extensions: statuses } = await started(host, clock);
  const broken = statuses.find((one) => one.status === 'disabled');
  if (broken !== undefined) {
    await stop();
    throw broken.error ?? new Error(`extension "${broken.extensionId}" was not loaded`);
  }
  const say = (words: string | Said): Promise<TestMessageEnd> => {
    const updateId = nextId('said');
    const one = typeof words === 'string' ? { text: words } : words;
    const { from = 'ada', roles } = one;
    if (roles !== undefined) said.set(from, roles);
    const told = new Promise<TestMessageEnd>((resolve, reject) => {
      waiting.set(updateId, resolve);
      const stopped = new Error(`the host has stopped, and ${updateId} has no end`);
      void host.stopped.then(() => reject(stopped));
      void channel.receive(one, updateId);
    });
    told.catch(() => undefined); // a test need not wait for it
    return told;
  };
  return {
    host,
    kernel,
    clock,
    channel,
    journal,
    log,
    outcomes,
    ends,
    of: <F extends FamilyName>(family: F) =>
      outcomes.filter((one): one is Outcome<F> & Outcome => one.event.family === family),
    say,
    press: async (label, from = {}) => {
      const shown = channel.sent.flatMap(({ interactive }) => interactive?.buttons ?? []);
      const button = shown.findLast((one) => one.label === label);
      if (button === undefined) throw new Error(`no message has a button "${label}"`);
      return say({ ...from, text: label, press: button.id });
    },
    replies: () => channel.sent.map(({ content }) => content),
    transcript: async (
      sessionKey = ends.findLast((end) => end.sessionKey !== undefined)?.sessionKey,
    ) => {
      const session = await store.loadSession(sessionKey ?? '');
      return session === undefined ? [] : store.readTranscript(session.sessionId);
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Starts a host. If it cannot be started, time passes: whatever is undone may wait. */
async function started(host: Host, clock: VirtualClock): Promise<StartReport> {
  const starting = host.start();
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  starting.then(settle, settle);
  while (!isSettled) {
    await new Promise(setImmediate);
    if (host.state === 'stopping') await clock.advance(10_000);
  }
  return starting;
}
