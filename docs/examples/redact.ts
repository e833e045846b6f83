import { defineExtension } from 'sluice';

const secret = /\bsk-[A-Za-z0-9]{16,}|\b\d{4}(?:[ -]?\d{4}){3}\b/g; // API keys, card numbers

/** Takes the secrets out of plain data, wherever a text has one. */
function redacted<T>(value: T): T {
  const json = JSON.stringify(value);
  const clean = json.replace(secret, '[redacted]');
  return clean === json ? value : JSON.parse(clean);
}

export default defineExtension({
  id: 'redact',
  setup(api) {
    const last = { priority: -100 }; // after those who write into the texts
    api.mutate('ingress.normalized', 'question', last, ({ payload: { content } }) => ({
      content: redacted(content), // the model reads it
    }));
    api.mutate('egress.preparing', 'answer', last, ({ payload: { content } }) => ({
      content: redacted(content),
    }));
    api.mutate('transcript.message.writing', 'kept', last, ({ payload: { message } }) => ({
      message: redacted(message), // also the results of tools
    }));
  },
});
