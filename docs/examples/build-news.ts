import { defineExtension } from 'sluice';

/** Asks the build server. */
declare function latestBuild(): Promise<{ readonly id: string; readonly hasFailed: boolean }>;

export default defineExtension({
  id: 'build-news',
  manifest: { grants: ['inject'] },
  setup(api) {
    const poll = async (): Promise<void> => {
      const { id, hasFailed } = await latestBuild();
      if (hasFailed) await api.inject('main', `Build ${id} has failed.`, { key: `build/${id}` });
    };
    const tell = (error: unknown): void => api.log.warn(String(error));
    const timer = setInterval(() => void poll().catch(tell), 60_000);
    api.own('poll', () => clearInterval(timer));
  },
});
