import type { LoadedExtension } from '../extension/index.js';
import type { HostParts } from './parts.js';

/**
 * Takes over what an extension provides. A name that is taken stays with whoever had it first, and the log says so:
 * what else the extension does is not touched.
 */
export function takeProvided(parts: HostParts, extension: LoadedExtension): void {
  const { channels, agents, commands, providers, logger } = parts;
  const { extensionId } = extension;
  const isFree = (what: string, taken: boolean): boolean => {
    if (taken) logger.error(`${what} of ${extensionId} is left out: another has that name`);
    return !taken;
  };
  for (const channel of extension.provided('channel')) {
    const taken = channels.some(({ id }) => id === channel.id);
    if (isFree(`channel "${channel.id}"`, taken)) channels.push(channel);
  }
  for (const agent of extension.provided('agent')) {
    if (!isFree(`agent "${agent.id}"`, agents.has(agent.id))) continue;
    agents.set(agent.id, agent);
    if (!providers.some(({ id }) => id === agent.provider.id)) providers.push(agent.provider);
  }
  for (const command of extension.provided('command'))
    if (isFree(`command "/${command.name}"`, commands.has(command.name)))
      commands.set(command.name, command);
}
