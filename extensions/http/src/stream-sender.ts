import type { StreamPermits, StreamSender } from 'sluice/channel';
import type { Answer, Answers, Part } from './answers.js';
import type { Deliver } from './channel.js';

/** The field that a text of some kind belongs to. */
export function fieldOf(kind: string): Part['field'] {
  return kind === 'reasoning' ? 'reasoning_content' : 'content';
}

/** Shows one reply while it grows, in the answer that its request waits for. */
export function streamSender(
  permits: StreamPermits,
  answers: Answers,
  deliver: Deliver,
): StreamSender {
  const self = {};
  let field: Part['field'] | undefined;
  let answer: Answer | undefined;

  const show = async (text: string): Promise<void> => {
    if (field === undefined) {
      const { to, kind } = permits.opening.take();
      field = fieldOf(kind);
      answer = await answers.at(to);
    }
    answer?.growing.set(self, { field, text });
    answer?.report();
  };
  const end = async (): Promise<void> => void answer?.growing.delete(self);

  return {
    onThinkingDelta: ({ thinking }) => show(thinking),
    onContentDelta: ({ content }) => show(content),
    onFinal: async () => {
      await end();
      const permit = permits.final();
      if (permit !== undefined) permits.report(await deliver(permit.take(), permit));
    },
    onError: end,
    abort: end,
  };
}
