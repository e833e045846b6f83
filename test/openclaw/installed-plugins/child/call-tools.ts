import type { Outcome } from '../../../../src/kernel/internal.js';
import type { Fields } from '../corpus.js';
import type { Trial } from './trial.js';
import type { TrialHost } from './trial-host.js';

/** Lets the agent call each tool that the plugin gives it, with arguments made of the tool's schema. Those that the corpus has
 * inputs for come first, in its order. It works if its answer is no error. */
export async function callTools(
  trial: Trial,
  host: TrialHost,
  outcomes: readonly Outcome[],
): Promise<void> {
  const placeOf = ({ name }: { readonly name: string }): number => trial.placeOf(`tool ${name}`);
  const tools = (await host.toolsOfAgent()).toSorted((one, other) => placeOf(one) - placeOf(other));
  for (const { name, inputSchema } of tools)
    await trial.ends(`tool ${name}`, async () => {
      const before = outcomes.length;
      await host.use(name, { ...sample(inputSchema), ...trial.inputOf(`tool ${name}`) });
      const told = outcomes.slice(before).find(({ event }) => event.family === 'agent.tool.called');
      if (told === undefined) return 'fails: it was not called';
      const { result } = told.payload as { readonly result?: unknown }; // of that family
      const text = textOf(result);
      trial.answered(text);
      const isError = (result as { readonly isError?: unknown })?.isError === true;
      return isError || errorText.test(text) ? `answers an error: ${text}` : undefined;
    });
}

/** The answers of tools that catch their own errors. */
const errorText =
  /^\W*(?:error|failed|unknown|invalid|missing|no .* configured|cannot)\b|"(?:error|isError)": ?(?:"|true|\{)|"(?:ok|success)": ?false|❌/i;

function textOf(result: unknown): string {
  const { content } = Object(result) as { readonly content?: unknown }; // from a plugin
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : [];
  return blocks
    .map((block) => String((Object(block) as { readonly text?: unknown }).text ?? ''))
    .join(' ');
}

/** Plain data that fits a JSON Schema: of an object its required fields. */
function sample(schema: unknown): Fields {
  return fitting(schema) as Fields; // a tool's schema is of an object
}

function fitting(given: unknown): unknown {
  const {
    type,
    properties,
    required,
    enum: some,
    const: only,
    anyOf,
    oneOf,
    items,
    minimum,
  } = Object(given) as Fields; // from a plugin
  if (only !== undefined) return only;
  if (Array.isArray(some)) return some[0] as unknown;
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return fitting(choices[0]);
  const names = Array.isArray(required) ? (required as readonly string[]) : [];
  switch (Array.isArray(type) ? (type as unknown[])[0] : type) {
    case 'object':
      return Object.fromEntries(names.map((name) => [name, fitting(Object(properties)[name])]));
    case 'array':
      return [fitting(items)];
    case 'number':
    case 'integer':
      return minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return 'green tea';
  }
}
