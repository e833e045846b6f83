import type {
  LegacyChannel,
  LegacyCommand,
  LegacyDelivery,
  LegacySendContext,
  LegacyService,
} from '../shape/shapes.js';
import type { Registering } from './registering.js';

/** Names that belong to commands of the legacy system, or of the host. */
const reservedCommands: ReadonlySet<string> = new Set(
  [
    ['help', 'commands', 'status', 'whoami', 'context', 'stop', 'restart', 'reset', 'new'],
    ['compact', 'config', 'debug', 'allowlist', 'activation', 'skill', 'subagents', 'kill'],
    ['steer', 'tell', 'model', 'models', 'queue', 'send', 'bash', 'exec', 'think', 'verbose'],
    ['reasoning', 'elevated', 'usage'],
  ].flat(),
);

/** `api.registerService`: something that starts and stops with the host. */
export function registerService(plugin: Registering, service: LegacyService): void {
  const id = service.id.trim();
  if (id === '') return void plugin.tell('warn', 'a service without an id is ignored');
  if (typeof service.start !== 'function')
    return void plugin.tell('error', `service "${id}" has no function "start"`);
  plugin.services.push(service);
}

/** `api.registerCommand`: a chat command. What is wrong with it is told of, and it is left out. */
export function registerCommand(plugin: Registering, command: LegacyCommand): void {
  const problem = commandProblem(plugin, command);
  if (problem !== undefined) return void plugin.tell('error', problem);
  if ('nativeNames' in command)
    plugin.tell('info', `command "${command.name}": its native names are not used`);
  const { handler } = command;
  const judged: LegacyCommand['handler'] = async (context) =>
    plugin.refusals.check(await handler.call(command, context));
  plugin.commands.push(Object.create(command, { handler: { value: judged, enumerable: true } }));
}

function commandProblem(plugin: Registering, command: LegacyCommand): string | undefined {
  const { name, description, handler } = command as {
    readonly [F in keyof LegacyCommand]: unknown;
  };
  if (typeof name !== 'string' || name.trim() === '') return 'a command has no name';
  const key = nameOf(name);
  if (typeof handler !== 'function') return `command "${key}" has no function "handler"`;
  if (typeof description !== 'string' || description.trim() === '')
    return `command "${key}" has no description`;
  if (!/^[a-z][a-z0-9_-]*$/.test(key))
    return `command "${key}": a name is letters, digits, "-" and "_", a letter first`;
  if (reservedCommands.has(key)) return `command "${key}" has the name of a built-in one`;
  if (plugin.commands.some((other) => nameOf(other.name) === key))
    return `command "${key}" is registered already`;
  return undefined;
}

function nameOf(name: string): string {
  return name.trim().toLowerCase();
}

/** `api.registerChannel`: a channel, by itself or in `{ plugin, dock }`. It sends; taking in has no bridge. */
export function registerChannel(
  plugin: Registering,
  registration: LegacyChannel | { readonly plugin: LegacyChannel },
): void {
  const { tell, channels, refusals } = plugin;
  const given: unknown =
    'plugin' in registration && typeof registration.plugin === 'object'
      ? registration.plugin
      : registration;
  const channel = given as LegacyChannel; // what is used of it is checked here
  const id = String(channel?.id ?? '').trim();
  if (id === '') return void tell('error', 'a channel has no id');
  if (channels.some((other) => other.id === id))
    return void tell('error', `channel "${id}" is registered already`);
  const { outbound } = channel;
  if (outbound?.sendText === undefined && outbound?.sendPayload === undefined)
    return void tell(
      'error',
      `channel "${id}" has neither outbound.sendText nor outbound.sendPayload: it cannot send`,
    );
  if (channel.gateway?.startAccount !== undefined)
    refusals.note('registerChannel: gateway.startAccount');
  channels.push(Object.create(channel, { outbound: { value: judgedOutbound(plugin, outbound) } }));
}

/** How a channel sends, where nothing counts that comes of a member that is not there. */
function judgedOutbound(
  { refusals }: Registering,
  outbound: NonNullable<LegacyChannel['outbound']>,
): NonNullable<LegacyChannel['outbound']> {
  const { chunker } = outbound;
  const judged = (send: ((context: LegacySendContext) => Promise<LegacyDelivery>) | undefined) =>
    send && {
      value: (context: LegacySendContext) => refusals.send(() => send.call(outbound, context)),
    };
  const verbs = {
    chunker: chunker && {
      value: (text: string, limit: number) => refusals.check(chunker.call(outbound, text, limit)),
    },
    sendText: judged(outbound.sendText),
    sendMedia: judged(outbound.sendMedia),
    sendPayload: judged(outbound.sendPayload),
  };
  const there = Object.entries(verbs).flatMap(([name, verb]) => (verb ? [[name, verb]] : []));
  return Object.create(outbound, Object.fromEntries(there)) as typeof outbound; // its own verbs, in front of the plugin's
}
