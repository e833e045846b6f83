import { expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';
import { lineOf, literalOf, nodesOf, parse } from '../support/syntax.js';

/** The products that packages beside the core know, in whatever spelling. */
const foreign = /open.?claw|claude|csdk|postgres/i;

/** Places whose words are promised to others, each with its promise. */
const promised: Readonly<Record<string, string>> = {
  'src/host/config/': 'the settings of a config file, and what is said of them',
  'src/agent/reply/emit/': 'the order `openclaw` of reply callbacks',
};

it.each(['kernel', 'sdk', 'agent', 'journal', 'host'])(
  '%s knows neither OpenClaw nor Claude nor PostgreSQL: no name and no text in its code has the word',
  (name) => {
    const files = sourceFiles(`src/${name}`).filter(
      ({ path }) => !Object.keys(promised).some((place) => path.startsWith(place)),
    );
    const found = files.flatMap(({ path, text }) =>
      nodesOf(parse(text, path)).flatMap((node) => {
        const words = [node['name'], literalOf(node), cookedOf(node['value']), node['regex']];
        const word = words
          .map((one) => (isRegex(one) ? one.pattern : one))
          .find((one) => typeof one === 'string' && foreign.test(one));
        return word === undefined ? [] : [`${path}:${lineOf(text, node.start)} ${String(word)}`];
      }),
    );
    expect(found).toEqual([]);
  },
);

/** The text of a piece of a template. */
function cookedOf(value: unknown): unknown {
  return value !== null && typeof value === 'object' && 'cooked' in value
    ? value.cooked
    : undefined;
}

/** The regular expression of a literal. */
function isRegex(value: unknown): value is { readonly pattern: unknown } {
  return value !== null && typeof value === 'object' && 'pattern' in value;
}
