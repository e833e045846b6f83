import type { HandlerClass } from 'sluice-kernel';
import type { LegacyPlugin } from '../../index.js';
import { legacyMapping } from '../../mapping/mapping.js';
import { rowsOf } from '../../profiles/index.js';

/** Finds the line of a plugin's source on which something is registered: `index.ts:12`. */
export type PlaceOf = (pattern: RegExp) => string | undefined;

/** How each class of handlers is registered, and what such a handler returns. */
const forms: Readonly<Record<HandlerClass, { readonly method: string; readonly body: string }>> = {
  observer: { method: 'observe', body: 'It returns nothing.' },
  augmenter: { method: 'augment', body: 'Return annotations, or nothing.' },
  mutator: { method: 'mutate', body: 'Return the fields to change, or nothing.' },
  veto: { method: 'veto', body: "Return cancel('policy'), or nothing." },
  resolver: { method: 'resolve', body: 'Return select(...), or nothing.' },
};

/** The source of the extension: a contribution for each part of each hook, and the provisions of commands and services. */
export function extensionSource(plugin: LegacyPlugin, placeOf: PlaceOf): string {
  const ids = new Map<string, number>();
  const idOf = (base: string): string => {
    const count = (ids.get(base) ?? 0) + 1;
    ids.set(base, count);
    return count === 1 ? base : `${base}-${count}`;
  };
  const from = (pattern: RegExp): string => {
    const place = placeOf(pattern);
    return place === undefined
      ? 'It is not found in the source.'
      : `The plugin has it in ${place}.`;
  };
  const contribution = (
    { family, class: name }: { readonly family: string; readonly class: HandlerClass },
    source: string,
    priority: number | undefined,
  ): string[] => {
    const options = priority === undefined ? '' : `{ priority: ${priority} }, `;
    const { method, body } = forms[name];
    const id = idOf(`${source.replace(/[^a-z0-9]+/g, '-')}-${name}`);
    return [
      `    // ${body}${family === 'agent.prompt.building' && name === 'mutator' ? ' A systemPrompt needs `"trusted"` in the config.' : ''}`,
      `    api.${method}(${quoted(family)}, ${quoted(id)}, ${options}() => undefined);`,
    ];
  };
  const hooks = plugin.hooks.flatMap(({ hookName, priority, parts }) => [
    '',
    `    // ${hookName}. ${from(new RegExp(`\\bon\\(\\s*['"\`]${hookName}['"\`]|['"\`]${hookName}['"\`]`))}`,
    `    // Its result there: ${oneLine(rowsOf(plugin.profile)[hookName]?.instead ?? 'nothing')}`,
    ...parts.flatMap((part) => contribution(part, hookName, priority)),
  ]);
  const internal = plugin.internalHooks.flatMap(({ name, events }) => [
    '',
    `    // The internal hook ${oneLine(name)} (${events.map(oneLine).join(', ')}). ${from(/registerHook\(/)}`,
    ...events.flatMap((event) =>
      legacyMapping['internalHooks']
        .filter(({ source }) => source === event || source.startsWith(`${event}:`))
        .flatMap(({ source, parts }) =>
          parts.flatMap((part) => contribution(part, source, undefined)),
        ),
    ),
  ]);
  const commands = plugin.commands.flatMap(({ name, description, requireAuth }) => [
    '',
    `    // ${from(fieldOf('name', name))}`,
    `    api.provide('command', {`,
    `      name: ${quoted(name.trim().toLowerCase())},`,
    `      description: ${quoted(oneLine(description))},`,
    ...(requireAuth === false ? ['      forAnyone: true,'] : []),
    `      run: () => 'This command is still to be moved.',`,
    '    });',
  ]);
  const services = plugin.services.flatMap(({ id }) => [
    '',
    `    // Start the service here, and stop it in the function. ${from(fieldOf('id', id))}`,
    `    api.own(${quoted(`service ${id}`)}, () => undefined);`,
  ]);
  return [
    `import { defineExtension } from 'sluice';`,
    `import { fromJsonSchema } from 'sluice/extension';`,
    ...(commands.length === 0
      ? []
      : [`import type {} from 'sluice/host'; // the kinds of things to provide`]),
    `import { configSchema } from './config-schema.ts';`,
    '',
    'export default defineExtension({',
    `  id: ${quoted(
      plugin.pluginId
        .toLowerCase()
        .replace(/[^a-z0-9-]+/g, '-')
        .replace(/^-+/, ''),
    )},`,
    '  config: fromJsonSchema(configSchema),',
    '  setup(api) {',
    ...[...hooks, ...internal, ...commands, ...services].slice(1),
    '  },',
    '});',
    '',
  ].join('\n');
}

/** Matches a field of an object literal: `id: 'loft'`. */
function fieldOf(field: string, value: string): RegExp {
  return new RegExp(`${field}:\\s*['"\`]${value.replace(/[^\w\s-]/g, '\\$&')}['"\`]`);
}

function quoted(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return `'${escaped.replaceAll("'", "\\'")}'`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
