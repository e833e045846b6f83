import { resolve } from 'node:path';
import {
  type Clock,
  definedFields,
  type Kernel,
  type Logger,
  silentLogger,
  systemClock,
} from 'sluice-kernel/internal';
import type { Added, Schedule } from '../define/added-times.js';
import type { ExtensionApi } from '../define/api.js';
import type { ExtensionHost } from '../define/extension-host.js';
import { placeOf } from '../define/place.js';
import type { Question } from '../define/question.js';
import { sayIn } from '../define/say-in.js';
import type { ExtensionMessage, KeptSend, LaterMessage } from '../define/send.js';
import type { ExtensionStore } from '../define/store.js';
import { extensionError } from '../errors.js';
import { readTimes } from '../named/read-schedule.js';
import type { ScheduleHandler, ScheduleTimes } from '../named/schedule.js';
import { dryStore } from '../store/dry-store.js';
import { memoryKeyValues } from '../store/memory-key-values.js';
import { openStore } from '../store/open-store.js';
import { type Asking, checkGrants } from './check-grants.js';
import type { RegistrationWindow } from './registration-window.js';

/** The part of the api that the host stands behind. */
type Hosted = Pick<
  ExtensionApi,
  | ('store' | 'send' | 'reply' | 'laterSends' | 'inject' | 'texts' | 'kernel')
  | ('stateDir' | 'resolvePath')
>;

/** The parts of the access of one extension to its host. */
interface HostAccessParts extends Asking {
  readonly kernel: Kernel;
  readonly clock?: Clock | undefined;
  /** Its members may come later. */
  readonly host?: HostMembers | undefined;
  /** The log of the extension, which is notified of acts that are held back. */
  readonly log?: Logger;
  /** The folder that relative paths are read from. */
  readonly configDir?: string | undefined;
  /** Returns whether the extension was unloaded; by default it is there. */
  readonly isGone?: () => boolean;
}

/** The access of one extension to its host: the one place where grants for acts are checked. */
export interface HostAccess {
  /**
   * Looks a member of the port up, for an act of the extension.
   *
   * @param what the act in the words of an author, such as `api.send`.
   * @param grants those that the act needs.
   * @throws SluiceError `extension-gone`, `not-granted`, or `no-host`.
   * @example
   * access.member('send', 'api.send', [`send:${channel}`])(extensionId, message);
   */
  member<K extends keyof ExtensionHost>(
    name: K,
    what: string,
    grants?: readonly string[],
  ): ExtensionHost[K];
  readonly hosted: Hosted;
  /** The questions of one name. */
  question(name: string): Question<unknown>;
  /** Registers taps, which hear when they are live. */
  tap(window: Pick<RegistrationWindow, 'tap'>): ExtensionApi['tap'];
  /** Registers schedules, which the host runs when they are live. */
  schedule(window: Pick<RegistrationWindow, 'register'>): ExtensionApi['schedule'];
}

/** Opens the access of an extension to its host (extensions-that-act §1). */
export function hostAccess(parts: HostAccessParts): HostAccess {
  const { kernel, extensionId, clock = systemClock, log = silentLogger, configDir = '.' } = parts;
  let own: ExtensionStore | undefined;
  const ownStore = (): ExtensionStore =>
    (own ??= openStore(extensionId, { values: memoryKeyValues(clock), now: () => clock.now() }));
  const given = parts.host ?? {};
  const host = kernel.isAudited(extensionId)
    ? dryHost({ extensionId, host: given, ownStore, clock, log })
    : given;
  const checkGone = (what: string): void => {
    if (parts.isGone?.() === true) throw extensionError('extension-gone', { extensionId, what });
  };
  const member: HostAccess['member'] = (name, what, grants = []) => {
    checkGrants(kernel, parts, grants);
    const found = host[name];
    if (found === undefined) throw extensionError('no-host', { extensionId, what });
    checkGone(what);
    return found;
  };
  const store = (): ExtensionStore => host.storeOf?.(extensionId) ?? ownStore();
  const timesOf = timesBy(member, extensionId);
  const send = sendBy(member, extensionId);
  const { list, cancel } = timesOf('', 'api.laterSends'); // what is added passes `send`, which asks for the grant
  let stateDir: string | undefined;
  return {
    member,
    question: questionBy(member, extensionId),
    tap:
      (window) =>
      (listeners = {}) => {
        window.tap(listeners);
        return {
          figures: async () => member('figures', 'the figures of api.tap', ['tap'])(),
          scrub: (text) => given.scrub?.(text) ?? text,
        };
      },
    // a schedule has the data that `add` of its name is given
    schedule: (window) => scheduleBy(parts, window, timesOf) as ExtensionApi['schedule'],
    hosted: {
      store: Object.freeze<ExtensionStore>({
        get: async (key) => store().get(key),
        set: async (key, value, options) => store().set(key, value, options),
        delete: async (key) => store().delete(key),
        list: async (prefix, options) => store().list(prefix, options),
        update: async (key, change, options) => store().update(key, change, options),
      }),
      send,
      reply: replyBy(send),
      laterSends: { list, cancel } as Omit<Schedule<ExtensionMessage>, 'add'>, // of messages
      inject: async (sessionKey, text, options) =>
        member('inject', 'api.inject', ['inject'])(extensionId, sessionKey, text, options),
      kernel: kernelBy(parts, checkGone),
      texts: (rows) => given.textsOf?.(extensionId, rows) ?? (() => sayIn(rows)),
      get stateDir() {
        return (stateDir ??= member('stateDirOf', 'api.stateDir')(extensionId));
      },
      resolvePath: (path) => resolve(configDir, path),
    },
  };
}

/** The kernel that an extension dispatches on (extensions-that-act §10). */
function kernelBy(parts: HostAccessParts, checkGone: (what: string) => void): Hosted['kernel'] {
  const { kernel } = parts;
  return Object.freeze({
    dispatch: async (family, payload, given) => {
      checkGrants(kernel, parts, [`dispatch:${family}`]);
      checkGone('api.kernel.dispatch');
      return kernel.dispatch(family, payload, given);
    },
    has: (family) => kernel.has(family),
  } satisfies Hosted['kernel']);
}

function questionBy(member: HostAccess['member'], extensionId: string): HostAccess['question'] {
  return (name) => ({
    ask: async (place, question, options = {}) => {
      const message = typeof question === 'string' ? { content: question } : question;
      const ask = member('ask', `the question "${name}"`, [`send:${place.channel}`]);
      return ask(extensionId, { name, place, message, options });
    },
  });
}

/** Finds what an extension has added to a schedule, for an act in the words of an author. */
type TimesOf = (name: string, what: string) => Schedule<unknown>;

function timesBy(member: HostAccess['member'], extensionId: string): TimesOf {
  return (name, what) => {
    const kept = () => member('timesOf', what)(extensionId, name);
    return {
      add: async (times) => kept().add(times),
      list: async () => kept().list(),
      cancel: async (key) => kept().cancel(key),
    };
  };
}

/** Registers schedules, with their times or with a handler of times that are added later (extensions-that-act §6). */
function scheduleBy(
  { extensionId, host }: Pick<HostAccessParts, 'extensionId' | 'host'>,
  window: Pick<RegistrationWindow, 'register'>,
  timesOf: TimesOf,
) {
  return (name: string, given: ScheduleTimes | ScheduleHandler, timed?: ScheduleHandler) => {
    const act = `api.schedule("${String(name)}")`;
    const what = `${extensionId}: ${act}`;
    if (host === undefined) throw extensionError('no-host', { extensionId, what: 'api.schedule' });
    const [times, handler] =
      typeof given === 'function' ? [undefined, given] : [readTimes(given), timed];
    const problem = typeof handler === 'function' ? times : 'its handler must be a function';
    if (handler === undefined || typeof problem === 'string')
      throw extensionError('bad-registration', { extensionId, what, problem: String(problem) });
    const value = { handler, ...definedFields({ times: problem }) };
    window.register({ kind: 'schedule', name, value }, 'schedule');
    return timesOf(name, act);
  };
}

/** Sends the messages of an extension, now or at their times. */
function sendBy(member: HostAccess['member'], extensionId: string): ExtensionApi['send'] {
  function send(message: LaterMessage): Promise<Added<ExtensionMessage>>;
  function send(message: ExtensionMessage): Promise<KeptSend>;
  async function send({ at, ...data }: ExtensionMessage & Partial<LaterMessage>) {
    const grants = [`send:${data.channel}`];
    if (at === undefined) return member('send', 'api.send', grants)(extensionId, data);
    const { add } = member('timesOf', 'api.send', grants)(extensionId, '');
    return add({ at, data, ...definedFields({ key: data.key }) });
  }
  return send;
}

/** Answers the message of a call. */
function replyBy(send: ExtensionApi['send']): ExtensionApi['reply'] {
  return async (call, said) => {
    const { payload } = call;
    const place = placeOf('message' in payload ? payload.message : payload);
    const message = typeof said === 'string' ? { content: said } : said;
    return send({ ...message, ...place, after: call });
  };
}

/** A host whose members may be missing, or come later. */
type HostMembers = { readonly [K in keyof ExtensionHost]?: ExtensionHost[K] | undefined };

/** The parts of a dry host. */
interface DryHostParts {
  readonly extensionId: string;
  /** The host that answers reads. Its members are looked up when they are called. */
  readonly host: HostMembers;
  /** The store that is read if the host has none. */
  readonly ownStore: () => ExtensionStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The port of a host for an extension that is audited: its acts answer as if they were done, and have no effect; reads are
 * those of the host (judgement §3.8). An act that the host cannot do is missing here, too.
 */
function dryHost({ extensionId, host, ownStore, clock, log }: DryHostParts): HostMembers {
  const told = new Set<string>();
  const tell = (act: string): void => {
    if (told.has(act)) return;
    told.add(act);
    log.info('an act of an audited extension was held back, as others of its name will be', {
      act,
    });
  };
  let acts = 0;
  const idOf = (act: string, key: string | undefined): string =>
    `dry-${act}-${key === undefined ? `${++acts}` : `key-${key}`}`;
  const kept = (): ExtensionStore => host.storeOf?.(extensionId) ?? ownStore();
  const onWrite = (): void => tell('store');
  const store = dryStore(extensionId, { kept, clock, onWrite });
  const send: ExtensionHost['send'] = async (_, message): Promise<KeptSend> => {
    tell('send');
    const { content, channel, accountId, key } = message;
    const report = { status: 'sent', content, channel, attempts: 1, indexKeys: [] } as const;
    const ended = Promise.resolve({ ...report, ...definedFields({ accountId }) });
    return { sendId: idOf('send', key), ended };
  };
  const ask: ExtensionHost['ask'] = async (_, { name, options }) => {
    tell('ask');
    const key = options.key === undefined ? undefined : `${name}/${options.key}`;
    const id = idOf('ask', key);
    return { id, sendId: `${id}-send` };
  };
  const inject: ExtensionHost['inject'] = async () => tell('inject');
  const timesOf: ExtensionHost['timesOf'] = (_, name) => ({
    add: async ({ key = '', data }) => {
      tell(name === '' ? 'send' : 'schedule');
      return { key, id: idOf('later', `${name}/${key}`), data };
    },
    list: async () => (await host.timesOf?.(extensionId, name).list()) ?? [],
    cancel: async () => false,
  });
  return {
    storeOf: () => store,
    get stateDirOf() {
      return host.stateDirOf;
    },
    get figures() {
      return host.figures;
    },
    get send() {
      return host.send && send;
    },
    get ask() {
      return host.ask && ask;
    },
    get inject() {
      return host.inject && inject;
    },
    get timesOf() {
      return host.timesOf && timesOf;
    },
  };
}
