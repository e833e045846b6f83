import { defineExtension } from 'sluice';

export default defineExtension({
  id: 'ask',
  manifest: { grants: ['send:*', 'provide:command'] },
  setup(api) {
    const question = { content: 'Deploy now?', options: ['Yes', 'Not now'] };
    const confirm = api.question<{ build: string }>('deploy', async ({ place, data, ...end }) => {
      if (end.status !== 'answered') return;
      const content = end.answer === 'Yes' ? `Build ${data.build} goes out.` : 'It waits.';
      await api.send({ ...place, content, key: `deploy/${end.id}` });
    });
    api.provide('command', {
      name: 'deploy',
      description: 'Asks, and deploys a build.',
      run: async ({ args: [build = 'latest'], place }) => {
        await confirm.ask(place, question, { data: { build }, timeoutMs: 3_600_000 });
        return '';
      },
    });
  },
});
