import type { LegacyPlugin } from '../../../../src/openclaw/index.js';
import type { Trial } from './trial.js';
import type { TrialHost } from './trial-host.js';

/** Says each command of a plugin in a chat, without arguments. It works if it replies. */
export async function callCommands(
  trial: Trial,
  plugin: LegacyPlugin,
  host: TrialHost,
): Promise<void> {
  for (const { name } of plugin.commands)
    await trial.ends(`command /${name}`, async () => {
      const { status, replies } = await host.say(`/${name}`);
      const [reply = ''] = replies;
      if (status !== 'command') return `fails: ${status}: ${reply}`;
      return reply === '' ? 'gives no reply' : undefined;
    });
}
