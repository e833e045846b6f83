import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { AgentEventListener } from '../../agent-events/event.js';
import { registerInternal } from './register-internal.js';
import { registerOn } from './register-on.js';
import { registerChannel, registerCommand, registerService } from './register-rest.js';
import type { Registering } from './registering.js';
import { type UnsupportedMember, unsupportedMembers } from './unsupported.js';

/** The release whose plugins the api is for, as plugins read it. */
const apiVersion = '2026.3.13';

/** The `api` that a plugin's register function is called with. Its methods may be taken out of it. */
export function apiOf(plugin: Registering): object {
  const { pluginId: id, name, version, description, source, config, pluginConfig } = plugin;
  const { method, part } = plugin.refusals;
  const missing = Object.keys(unsupportedMembers) as UnsupportedMember[]; // the table's own keys
  /** The members of an object of the api that the table lists, each with its stand-in. */
  const standIns = (owner: string, make: (member: UnsupportedMember) => unknown): object =>
    Object.fromEntries(
      missing
        .filter((member) => member.replace(/\.\w+$/, '') === owner)
        .map((member) => [member.slice(owner.length + 1), make(member)]),
    );
  const bound =
    <Args extends readonly unknown[], Result>(
      run: (plugin: Registering, ...args: Args) => Result,
    ) =>
    (...args: Args): Result =>
      run(plugin, ...args);
  const runtime = {
    version: apiVersion,
    ...standIns('api.runtime', part),
    events: { onAgentEvent: bound(onAgentEvent), ...standIns('api.runtime.events', method) },
  };
  return {
    id,
    name,
    version,
    description,
    source,
    config,
    pluginConfig,
    logger: plugin.legacyLogger,
    resolvePath,
    on: bound(registerOn),
    registerHook: bound(registerInternal),
    registerService: bound(registerService),
    registerCommand: bound(registerCommand),
    registerChannel: bound(registerChannel),
    ...standIns('api', method),
    get runtime() {
      plugin.refusals.ask();
      return runtime;
    },
  };
}

/** `api.runtime.events.onAgentEvent`: a listener, until the function that it gives is called or the plugin ends. */
function onAgentEvent({ scope, buses }: Registering, listener: AgentEventListener): () => void {
  return scope.add('agent event listener', buses().listen(listener));
}

/** A path as people write it: `~` is their home, and what is relative begins at the working folder. */
function resolvePath(input: string): string {
  const path = input.trim();
  if (path === '') return path;
  return resolve(/^~(?=$|[/\\])/.test(path) ? join(homedir(), path.slice(1)) : path);
}
