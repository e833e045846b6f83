import type {
  ChannelPreviews,
  SendResult,
  StreamPermits,
  StreamSender,
} from '../../src/sdk/channel/index.js';
import {
  type ScriptedChannel,
  type ScriptedChannelOptions,
  scriptedChannel,
} from './scripted-channel.js';

/** What a person sees in a streaming channel, and where it is from. */
export interface Shown {
  readonly by: 'preview' | 'final' | 'send';
  readonly text: string;
}

/** A call to a stream sender. */
export type SenderCall = 'thinking' | 'content' | 'final' | 'error' | 'abort';

/** A scripted channel that shows replies while they grow. */
export interface StreamingChannel extends ScriptedChannel {
  /** What a person sees now, in order. */
  readonly screen: readonly Shown[];
  /** Everything that a person has ever seen, in order. */
  readonly everShown: readonly Shown[];
  /** Each call to a sender, in order: `2 content Hel` is the second sender's. */
  readonly calls: readonly string[];
}

export interface StreamingChannelOptions extends ScriptedChannelOptions {
  /** Comes before a sender does a call: it may wait or throw. */
  readonly before?: (call: SenderCall, sender: number) => void | Promise<void>;
  /** Reported of a final instead of that it was sent; `undefined` reports nothing. */
  readonly report?: () => SendResult | undefined;
  /** The sender neither takes nor shows its final. */
  readonly ignoresFinal?: boolean;
  /** Makes no sender: it throws. */
  readonly createThrows?: boolean;
  /** Previews that a host has left can be ended; they are on a screen that outlives it. */
  readonly endsPreviews?: {
    readonly screen: Shown[];
    /** Says how taking back goes; it is gone where unsaid. */
    readonly takesBack?: () => boolean;
  };
}

/** A channel in a test's hands that streams: its senders keep what a person would see. */
export function streamingChannel(options: StreamingChannelOptions = {}): StreamingChannel {
  const screen: Shown[] = options.endsPreviews?.screen ?? [];
  const everShown: Shown[] = [];
  const calls: string[] = [];
  let senders = 0;
  /** What the senders of this channel show, by their notes. */
  const notes = new Map<unknown, () => Shown | undefined>();
  const show = (shown: Shown): Shown => {
    screen.push(shown);
    everShown.push(shown);
    return shown;
  };
  const channel = scriptedChannel({
    ...options,
    send: async (permit, sent) => {
      const {
        send = async (own, all) => {
          all.push(own.take());
          return { status: 'sent', receipt: { messageId: `m-${all.length}` } };
        },
      } = options;
      const before = sent.length;
      try {
        return await send(permit, sent);
      } finally {
        for (const { content } of sent.slice(before)) show({ by: 'send', text: content });
      }
    },
  });

  function createStreamSender(permits: StreamPermits): StreamSender {
    if (options.createThrows === true) throw new Error('no renderer');
    const number = ++senders;
    let preview: Shown | undefined;
    let isOver = false;
    const remove = (): void => {
      const at = preview === undefined ? -1 : screen.indexOf(preview);
      if (at !== -1) screen.splice(at, 1);
      preview = undefined;
    };
    const takeBack = async (): Promise<void> => {
      isOver = true;
      if (await permits.mayTakeBack()) remove();
    };
    const begin = async (call: SenderCall, text = ''): Promise<void> => {
      calls.push(`${number} ${call}${text === '' ? '' : ` ${text}`}`);
      await options.before?.(call, number);
    };
    const part = async (call: 'thinking' | 'content', text: string): Promise<void> => {
      await begin(call, text);
      if (isOver) return;
      if (!permits.opening.used) permits.opening.take();
      const next: Shown = { by: 'preview', text };
      const before = preview;
      preview = next; // at once: an abort that comes while it is noted takes it back
      if (before === undefined) {
        show(next);
        notes.set(number, () => preview);
        await permits.noteShown({ on: 'the screen', by: number });
      } else {
        screen[screen.indexOf(before)] = next;
        everShown.push(next);
      }
    };
    return {
      onThinkingDelta: ({ thinking }) => part('thinking', thinking),
      onContentDelta: ({ content }) => part('content', content),
      async onFinal({ content }) {
        await begin('final', content);
        if (isOver || options.ignoresFinal === true) return;
        isOver = true;
        const message = permits.final()?.take();
        if (message === undefined) return;
        const result = options.report
          ? options.report()
          : ({ status: 'sent', receipt: { messageId: `stream-${number}` } } as const);
        if (result?.status !== 'rejected' && result?.status !== 'retry-after') {
          remove();
          show({ by: 'final', text: message.content });
        }
        if (result !== undefined) permits.report(result);
      },
      async onError({ error }) {
        await begin('error', error);
        await takeBack();
      },
      async abort() {
        await begin('abort');
        await takeBack();
      },
    };
  }

  /** What a note is of. A host before this one has left one preview at most, in these tests. */
  const previews = (takesBack: () => boolean): ChannelPreviews => ({
    takeBack: async (note) => {
      calls.push('takeBack');
      if (!takesBack()) return false;
      const own = notes.get(byOf(note));
      const at = screen.indexOf(own?.() as Shown); // what is not there is at -1
      if (own !== undefined) screen.splice(at, at < 0 ? 0 : 1);
      else screen.splice(0, screen.length, ...screen.filter(({ by }) => by === 'send'));
      return true;
    },
    complete: async (permit, { shown }) => {
      const { content: text } = permit.take();
      calls.push(`complete ${text}`);
      const own = notes.get(byOf(shown));
      const preview = own === undefined ? screen[0] : own();
      if (preview === undefined) screen.push({ by: 'final', text });
      else Object.assign(preview, { by: 'final', text }); // it is the same message
      return { status: 'sent', receipt: { messageId: 'left' } };
    },
  });

  return {
    ...channel,
    ...(options.endsPreviews !== undefined && {
      previews: previews(options.endsPreviews.takesBack ?? (() => true)),
    }),
    capabilities: { ...channel.capabilities, canStreamResponse: true },
    createStreamSender,
    screen,
    everShown,
    calls,
  };
}

/** The sender that has made a note. */
function byOf(note: unknown): unknown {
  return (note as { readonly by?: unknown }).by; // as it was noted
}
