import type { LegacyCommand, LegacyService } from '../shape/shapes.js';
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

/** Returns whether a command of this name belongs to the legacy system, or to the host. */
export function isReservedCommand(name: string): boolean {
  return reservedCommands.has(name);
}

/** `api.registerService`: something that starts and stops with the host. */
export function registerService(plugin: Registering, service: LegacyService): void {
  const id = service.id.trim();
  if (id === '') return void plugin.report('warn', 'a service without an id is ignored');
  const about = { kind: 'service', name: id };
  if (typeof service.start !== 'function')
    return void plugin.report('error', `service "${id}" has no function "start"`, undefined, about);
  plugin.services.push(service);
}

/** `api.registerCommand`: a chat command. What is wrong with it is told of, and it is left out. */
export function registerCommand(plugin: Registering, command: LegacyCommand): void {
  const problem = commandProblem(plugin, command);
  const name = String(command?.name);
  if (problem !== undefined)
    return void plugin.report('error', problem, undefined, { kind: 'command', name });
  if ('nativeNames' in command)
    plugin.report('info', `command "${command.name}": its native names are not used`);
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
