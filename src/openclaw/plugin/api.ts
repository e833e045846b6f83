import { join, resolve } from 'node:path';
import { homeFolder } from '@sluice/sdk/extension/internal';
import { definedFields } from 'sluice-kernel/internal';
import { registerChannel } from './api/register-channel.js';
import { registerInternal } from './api/register-internal.js';
import { registerOn } from './api/register-on.js';
import {
  registerCli,
  registerGatewayMethod,
  registerHttpHandler,
  registerHttpRoute,
} from './api/register-outside.js';
import { registerCommand, registerService } from './api/register-rest.js';
import { registerTool } from './api/register-tool.js';
import type { Registering } from './api/registering.js';
import { laterStandInsOf, standInsOf } from './api/unsupported.js';
import { nextTurnInjections } from './runtime/next-prompt.js';
import { runtimeOf } from './runtime/runtime.js';
import { withStandIns } from './runtime/with-stand-ins.js';

/** The `api` that a plugin's register function is called with. Its methods may be taken out of it. */
export function apiOf(plugin: Registering): object {
  const { pluginId: id, name, version, description, source, config, pluginConfig } = plugin;
  const bound =
    <Args extends readonly unknown[], Result>(
      run: (plugin: Registering, ...args: Args) => Result,
    ) =>
    (...args: Args): Result =>
      run(plugin, ...args);
  const runtime = runtimeOf(plugin);
  const api = {
    id,
    name,
    version,
    description,
    source,
    ...definedFields({ rootDir: plugin.rootDir }),
    config,
    pluginConfig,
    logger: plugin.legacyLogger,
    resolvePath,
    on: bound(registerOn),
    registerHook: bound(registerInternal),
    registerService: bound(registerService),
    registerCommand: bound(registerCommand),
    registerChannel: bound(registerChannel),
    registerTool: bound(registerTool),
    registerCli: bound(registerCli),
    registerGatewayMethod: bound(registerGatewayMethod),
    registerHttpRoute: bound(registerHttpRoute),
    registerHttpHandler: bound(registerHttpHandler),
    ...standInsOf('api', plugin.refusals.method),
    get runtime() {
      plugin.refusals.ask();
      return runtime;
    },
  };
  return plugin.profile === '2026.9' ? withLaterMembers(api, plugin) : api;
}

/** Adds the members that profile 2026.9 has. */
function withLaterMembers(api: object, plugin: Registering): object {
  const { refusals } = plugin;
  const groups = laterStandInsOf('groups', refusals.part) as Readonly<Record<string, object>>; // each is a proxy
  const { session = {} } = groups;
  const injections = { enqueueNextTurnInjection: nextTurnInjections(plugin) };
  const workflow = withStandIns(injections, () => Reflect.get(session, 'workflow'));
  const served = { ...groups, session: withStandIns({ workflow }, () => session) };
  for (const [name, group] of Object.entries(served))
    Object.defineProperty(api, name, {
      get: () => {
        refusals.ask();
        return group;
      },
    });
  const functions = laterStandInsOf('functions', refusals.method);
  return Object.assign(api, functions, injections, { registrationMode: 'full' });
}

/** A path as people write it: `~` is their home, or the working folder if they have none. What is relative begins there, too. */
function resolvePath(input: string): string {
  const path = input.trim();
  if (path === '') return path;
  return resolve(/^~(?=$|[/\\])/.test(path) ? join(homeFolder() ?? '.', path.slice(1)) : path);
}
