import { allow, cancel, defineExtension } from 'sluice';
import { z } from 'zod';

export default defineExtension({
  id: 'shout',
  config: z.object({ maxLength: z.number().int().positive().default(2000) }),
  setup(api, config) {
    api.observe('ingress.normalized', 'count', ({ payload }, own) => {
      own.log.info(`${payload.channel} said ${payload.content.length} characters`);
    });
    // Neither says `preview: 'ok'`: nothing of a reply is shown before all of it is in capitals.
    api.mutate('egress.preparing', 'upper-case', ({ payload }) => ({
      content: payload.content.toUpperCase(),
    }));
    api.veto('egress.preparing', 'length', { failClosed: true }, ({ payload }) =>
      payload.content.length > config.maxLength
        ? cancel('policy', { text: `longer than ${config.maxLength} characters` })
        : allow(),
    );
  },
});
