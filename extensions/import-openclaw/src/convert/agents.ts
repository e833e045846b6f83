import { dataOf } from '../data.js';
import { type Node, pathText } from '../source/node.js';
import { promptFiles } from '../state/prompts.js';
import { agentsOf, type Draft, defaultAgentOf } from './draft.js';

const services =
  dataOf<Readonly<Record<string, { readonly url?: string; readonly apiKey?: string }>>>('services');

/** Converts agents and their models. */
export function convertAgents(draft: Draft): void {
  const { root, config, extensions } = draft;
  const defaults = root.get('agents', 'defaults');
  const models: Record<string, unknown>[] = [];
  const seconds = defaults.get('timeoutSeconds').number();
  const listed = agentsOf(root);
  const isFirst = (id: string, at: number): boolean =>
    listed.findIndex((one) => one.id === id) === at;
  for (const [at, { id, node }] of listed.entries())
    if (!isFirst(id, at))
      draft.report.refuse(
        node.get('id').path,
        `Another agent has the id "${id}": give it its own.`,
      );
  const agents = listed
    .filter(({ id }, at) => isFirst(id, at))
    .map(({ id, node }) => {
      const own = node.get('model').isThere ? node.get('model') : defaults.get('model');
      const prompt = promptFiles(draft, node, id);
      return {
        id,
        provider: providerOf(
          draft,
          id,
          own.get('primary').isThere ? own.get('primary') : own,
          models,
        ),
        ...(prompt !== undefined && { systemPrompt: prompt }),
        ...(seconds !== undefined &&
          seconds > 0 && { timeoutMs: Math.min(seconds * 1_000, 2_147_483_647) }),
      };
    });
  config['agents'] = agents;
  const first = defaultAgentOf(root);
  if (first !== agents[0]?.id) config['defaultAgent'] = first;
  draft.carried.defaultAgent = first;
  const atOnce = defaults.get('maxConcurrent').number();
  if (atOnce !== undefined && Number.isInteger(atOnce) && atOnce > 0)
    config['lanes'] = { maxRunning: atOnce };
  if (models.length > 0) extensions.push({ path: 'sluice-openai', config: { agents: models } });
}

/** The provider of an agent. A model that no provider here has leaves the agent with the echo, if that was accepted. */
function providerOf(
  draft: Draft,
  agentId: string,
  node: Node,
  models: Record<string, unknown>[],
): string {
  const { root, report } = draft;
  const written = node.text();
  const aliased = root
    .get('agents', 'defaults', 'models')
    .entries()
    .find(
      ([, one]) =>
        written !== undefined && one.get('alias').text()?.toLowerCase() === written.toLowerCase(),
    );
  const model = aliased?.[0] ?? written;
  if (model === undefined) {
    if (node.isThere)
      report.refuse(
        node.path,
        'The name of the model cannot be read, so the agent would be an echo.',
      );
    return node.isThere ? 'echo' : 'claude';
  }
  const [, service = 'anthropic', name = model] = /^([^/]+)\/(.+)$/.exec(model) ?? [];
  const own = root.get('models', 'providers', service);
  const url = own.get('baseUrl').text() ?? services[service]?.url;
  const speaksOpenAi = own.isThere
    ? ['openai-completions', undefined].includes(own.get('api').text()) && url !== undefined
    : services[service] !== undefined;
  if ((service === 'anthropic' || service === 'claude-cli') && !own.get('baseUrl').isThere) {
    if (own.get('apiKey').isThere)
      report.note(
        own.get('apiKey').path,
        'converted with a difference',
        'Set ANTHROPIC_API_KEY to it.',
      );
    return `claude:${name}`;
  }
  if (!speaksOpenAi) {
    report.refuse(
      node.path,
      `No agent here has the model of ${pathText([service])}, so this one would be an echo. Choose another model, or write an agent.`,
    );
    return 'echo';
  }
  const variable = services[service]?.apiKey;
  const key =
    own.get('apiKey').secret() ?? (variable === undefined ? undefined : { env: variable });
  const headers = own.get('headers').verbatim();
  const id = `model-${agentId}`;
  models.push({
    id,
    model: name,
    ...(url !== undefined && { url }),
    ...(key !== undefined && { apiKey: key }),
    ...(headers !== undefined && { headers }),
  });
  return `ext:${id}`;
}
