import { allow, cancel, defineExtension, select } from 'sluice';

export default defineExtension({
  id: 'answers',
  setup(api) {
    api.resolve('agent.answer.resolving', 'opening-hours', ({ payload }) =>
      /opening hours/i.test(payload.prompt) ? select({ text: 'We open at nine.' }) : undefined,
    );
    api.veto('agent.llm.calling', 'no-keys', { failClosed: true }, ({ payload }) =>
      /\bsk-\w{20,}/.test(payload.composedPrompt ?? payload.prompt)
        ? cancel('unsafe', { reply: 'Your message holds a key. The model has not seen it.' })
        : allow(),
    );
  },
});
