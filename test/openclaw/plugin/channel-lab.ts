import type { Kernel } from '../../../src/kernel/internal.js';
import {
  type LegacyAccountContext,
  type LegacyPlugin,
  type LegacyPluginOptions,
  loadLegacyPlugin,
} from '../../../src/openclaw/index.js';

type Members = Record<string, (...args: never[]) => unknown>;
type Functions = Record<string, Members>;
interface Runtime {
  readonly channel: Functions;
  readonly state: Members;
}

type Delivered = readonly [text: string | undefined, kind: string];

/** A channel of an OpenClaw plugin that a test plays the provider of. */
export interface PostOffice {
  readonly load: (kernel: Kernel) => readonly LegacyPlugin[];
  /** `api.runtime.channel`, as a plugin gets it. */
  readonly channel: () => Functions;
  /** `api.runtime.state`. */
  readonly state: () => Members;
  /** The contexts that its accounts were started with, in order. */
  readonly started: readonly LegacyAccountContext[];
  readonly stopped: readonly string[];
  /** The texts that the plugin's own code has delivered. */
  readonly delivered: readonly Delivered[];
  /** The texts that went out by `outbound.sendText`, with their addresses. */
  readonly sent: readonly (readonly [to: string, text: string])[];
  /** What the callbacks of a dispatcher were called with, in order. */
  readonly called: readonly string[];
  /** The provider brings a message: the dispatcher's result, when it has resolved. */
  bring(text: string, more?: object): Promise<unknown>;
  /** The same, through `createReplyDispatcherWithTyping` and `dispatchReplyFromConfig`. */
  bringTyped(text: string, more?: object): Promise<unknown>;
}

export interface PostOptions extends Partial<LegacyPluginOptions> {
  /** Runs an account: until it is aborted by default. */
  readonly run?: (context: LegacyAccountContext, time: number) => Promise<unknown>;
  readonly deliver?: (text: string | undefined) => void;
  readonly onReplyStart?: () => unknown;
  /** Is told of an error of a delivery. */
  readonly onError?: () => unknown;
  /** Members of the channel beside `id`, `gateway` and `outbound.sendText`. */
  readonly members?: object;
  readonly outbound?: object;
  /** Registers more than the channel. */
  readonly register?: (api: { registerHttpRoute(route: object): void }) => void;
}

/** Makes the plugin `post`. */
export function postOffice(options: PostOptions = {}): PostOffice {
  const {
    run = untilAborted,
    deliver,
    onReplyStart,
    onError,
    members,
    outbound,
    register: registerMore,
    ...load
  } = options;
  const started: LegacyAccountContext[] = [];
  const stopped: string[] = [];
  const delivered: Delivered[] = [];
  const sent: (readonly [string, string])[] = [];
  const called: string[] = [];
  let runtime: Runtime | undefined;
  const loaded = (): Runtime => {
    if (runtime === undefined) throw new Error('the plugin is not loaded');
    return runtime;
  };
  const channel = (): Functions => loaded().channel;
  const register = (api: {
    readonly runtime: Runtime;
    registerChannel(channel: object): void;
    registerHttpRoute(route: object): void;
  }): void => {
    runtime = api.runtime;
    registerMore?.(api);
    api.registerChannel({
      id: 'post',
      gateway: {
        startAccount: (context: LegacyAccountContext) => run(context, started.push(context)),
        stopAccount: async ({ accountId }: LegacyAccountContext) => void stopped.push(accountId),
      },
      outbound: {
        sendText: async ({ to, text }: { to: string; text: string }) => {
          sent.push([to, text]);
          return { messageId: `p-${sent.length}` };
        },
        ...outbound,
      },
      ...members,
    });
  };
  const dispatcherOptions = {
    deliver: async ({ text }: { text?: string }, { kind }: { kind: string }) => {
      deliver?.(text);
      delivered.push([text, kind]);
    },
    onError: onError ?? ((error: unknown) => void called.push(`error ${String(error)}`)),
    typingCallbacks: {
      onReplyStart: onReplyStart ?? (() => void called.push('start')),
      onIdle: () => void called.push('idle'),
    },
  };
  const contextOf = (text: string, more: object) => ({
    ...{ Body: `[post] ${text}`, RawBody: text, From: 'post:ada', To: 'post:ada', SenderId: 'ada' },
    ...{ ChatType: 'direct', Provider: 'post', OriginatingTo: 'post:ada', AccountId: 'default' },
    ...{ SessionKey: 'agent:main:main', CommandAuthorized: true, later: () => 'no data', ...more },
  });
  const call = (name: string, given: object): Promise<unknown> =>
    Promise.resolve(channel()['reply']?.[name]?.(given as never)); // as a plugin calls it, untyped
  return {
    state: () => loaded().state,
    ...{ channel, started, stopped, delivered, sent, called },
    load: (kernel) => [loadLegacyPlugin(register, { kernel, pluginId: 'post', ...load })],
    bring: (text, more = {}) =>
      call('dispatchReplyWithBufferedBlockDispatcher', {
        ...{ ctx: contextOf(text, more), cfg: {}, dispatcherOptions },
      }),
    bringTyped: async (text, more = {}) => {
      const made = (await call('createReplyDispatcherWithTyping', dispatcherOptions)) as object;
      const ctx = contextOf(text, more);
      return call('withReplyDispatcher', {
        ...made,
        run: () => call('dispatchReplyFromConfig', { ...made, ctx, cfg: {} }),
        onSettled: () => void called.push('settled'),
      });
    },
  };
}

function untilAborted({ abortSignal }: LegacyAccountContext): Promise<void> {
  return new Promise((resolve) => {
    abortSignal.addEventListener('abort', () => resolve(), { once: true });
  });
}
