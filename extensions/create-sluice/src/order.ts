import { parseArgs } from 'node:util';
import { Mistake } from './mistake.js';

/** The kinds of package, each with the option of `sluice run` that takes it beside `--extension`. */
export const kinds = { extension: '', channel: ' --channel', agent: ' --agent' } as const;

type Kind = keyof typeof kinds;

/** The package that is wanted. */
export interface Order {
  readonly kind: Kind;
  /** The id of the extension, the channel or the agent. */
  readonly id: string;
  /** The name of the package. `--channel ID` finds the package `sluice-ID`. */
  readonly packageName: string;
  /** The folder, from the current one. */
  readonly folder: string;
  /** The place where npm finds Sluice, if it is not the registry. */
  readonly sluice?: string;
}

/** Reads the arguments. @throws Mistake */
export function readOrder(args: readonly string[]): Order | 'help' | 'version' {
  const { values, positionals } = parsed(args);
  if (values.help === true) return 'help';
  if (values.version === true) return 'version';
  const [kind, name, ...more] = positionals;
  if (kind === undefined || name === undefined || more.length > 0)
    throw new Mistake('bad-arguments', 'a kind and a name are needed', usage);
  if (!isKind(kind))
    throw new Mistake(
      'bad-arguments',
      `"${kind}" is no kind of package`,
      `Write ${Object.keys(kinds)
        .join(', ')
        .replace(/, (?=\w+$)/, ' or ')}.`,
    );
  return { kind, ...named(name), ...(values.sluice !== undefined && { sluice: values.sluice }) };
}

export const usage = 'Usage: npm create sluice extension|channel|agent NAME';

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        sluice: { type: 'string' },
      },
    });
  } catch (error) {
    const what = error instanceof Error ? error.message.replace(/\..*/s, '') : String(error);
    throw new Mistake('bad-arguments', what, usage);
  }
}

function isKind(text: string): text is Kind {
  return Object.hasOwn(kinds, text);
}

/** The names that come of one that is given: `tea`, `sluice-tea` and `@acme/tea` all have the id `tea`. */
function named(given: string): Pick<Order, 'id' | 'packageName' | 'folder'> {
  const [, scope = '', folder = ''] = /^(@[a-z0-9][\w.-]*\/)?([a-z][a-z0-9-]*)$/.exec(given) ?? [];
  const id = folder.replace(/^sluice-/, '');
  if (id === '' || id === 'sluice' || id.endsWith('-') || given.length > 200)
    throw new Mistake(
      'bad-arguments',
      `"${given}" is no name of a package`,
      'Write lower-case letters, digits and dashes, such as tea-time or @acme/tea-time.',
    );
  return { id, folder, packageName: scope === '' ? `sluice-${id}` : given };
}
