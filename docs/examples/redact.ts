import { defineExtension } from 'sluice';
import { isSessionMessage } from 'sluice/stream';

const secret = /sk-[A-Za-z0-9]{16,}|(?<!\d)\d{4}(?:[ -]?\d{4}){3}(?!\d)/g; // API keys, card numbers

/** Takes the secrets out of plain data, wherever a text has one. */
function redacted<T>(value: T): T {
  const json = JSON.stringify(value);
  const clean = JSON.parse(json, (_key, part) =>
    typeof part === 'string' ? part.replace(secret, '[redacted]') : part,
  );
  return JSON.stringify(clean) === json ? value : clean;
}

export default defineExtension({
  id: 'redact',
  setup(api) {
    const last = { priority: -100, failClosed: true }; // after those who write into the texts
    api.mutate('ingress.normalized', 'question', last, ({ payload: { content } }) => ({
      content: redacted(content), // the model reads it
    }));
    // no `preview: 'ok'`: the first half of a key looks like no key
    api.mutate('egress.preparing', 'answer', last, ({ payload: { content } }) => ({
      content: redacted(content),
    }));
    api.mutate('transcript.message.writing', 'kept', last, ({ payload: { message } }) => {
      if (!isSessionMessage(message) || message.role !== 'assistant')
        return { message: redacted(message) }; // a question, the result of a tool
      const content = message.content.filter(
        (block) => block.type !== 'thinking' || redacted(block) === block, // its signature is of its very words
      );
      const isWhole = content.length === message.content.length;
      return { message: redacted(isWhole ? message : { ...message, content }) };
    });
  },
});
