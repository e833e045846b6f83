import { resolve } from 'node:path';
import {
  type Clock,
  definedFields,
  type Kernel,
  type Logger,
  silentLogger,
  systemClock,
} from 'sluice-kernel/internal';
import type { ExtensionApi } from '../define/api.js';
import type { ExtensionHost } from '../define/extension-host.js';
import type { Question } from '../define/question.js';
import type { KeptSend } from '../define/send.js';
import type { ExtensionStore } from '../define/store.js';
import { extensionError } from '../errors.js';
import { readSchedule } from '../named/read-schedule.js';
import { dryStore } from '../store/dry-store.js';
import { memoryKeyValues } from '../store/memory-key-values.js';
import { openStore } from '../store/open-store.js';
import { type Asking, checkGrants } from './check-grants.js';
import type { RegistrationWindow } from './registration-window.js';

/** The part of the api that the host stands behind. */
type Hosted = Pick<ExtensionApi, 'store' | 'send' | 'inject' | 'stateDir' | 'resolvePath'>;

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
  const member: HostAccess['member'] = (name, what, grants = []) => {
    checkGrants(kernel, parts, grants);
    const found = host[name];
    if (found === undefined) throw extensionError('no-host', { extensionId, what });
    if (parts.isGone?.() === true) throw extensionError('extension-gone', { extensionId, what });
    return found;
  };
  const store = (): ExtensionStore => host.storeOf?.(extensionId) ?? ownStore();
  let stateDir: string | undefined;
  return {
    member,
    question: (name) => ({
      ask: async (place, question, options = {}) => {
        const message = typeof question === 'string' ? { content: question } : question;
        const what = `the question "${name}"`;
        const ask = member('ask', what, [`send:${place.channel}`]);
        return ask(extensionId, { name, place, message, options });
      },
    }),
    tap:
      (window) =>
      (listeners = {}) => {
        window.tap(listeners);
        return {
          figures: async () => member('figures', 'the figures of api.tap', ['tap'])(),
          scrub: (text) => given.scrub?.(text) ?? text,
        };
      },
    schedule: (window) => (name, times, handler) => {
      const what = `${extensionId}: api.schedule("${String(name)}")`;
      if (parts.host === undefined)
        throw extensionError('no-host', { extensionId, what: 'api.schedule' });
      const value = readSchedule(times, handler);
      if (typeof value === 'string')
        throw extensionError('bad-registration', { extensionId, what, problem: value });
      window.register({ kind: 'schedule', name, value }, 'schedule');
    },
    hosted: {
      store: Object.freeze<ExtensionStore>({
        get: async (key) => store().get(key),
        set: async (key, value, options) => store().set(key, value, options),
        delete: async (key) => store().delete(key),
        list: async (prefix, options) => store().list(prefix, options),
        update: async (key, change, options) => store().update(key, change, options),
      }),
      send: async (message) =>
        member('send', 'api.send', [`send:${message.channel}`])(extensionId, message),
      inject: async (sessionKey, text, options) =>
        member('inject', 'api.inject', ['inject'])(extensionId, sessionKey, text, options),
      get stateDir() {
        return (stateDir ??= member('stateDirOf', 'api.stateDir')(extensionId));
      },
      resolvePath: (path) => resolve(configDir, path),
    },
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
  };
}
