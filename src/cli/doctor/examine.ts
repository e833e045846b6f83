import type { LoadedExtension } from '../../extension/index.js';
import { usualTurnMs } from '../../host/internal.js';
import { oneLine, silentLogger } from '../../kernel/index.js';
import type { AgentProvider } from '../../stream/index.js';
import { CommandError } from '../errors/command-error.js';
import {
  agentDefinitions,
  type ProvidedAgents,
  providedBy,
} from '../pipeline/agent-definitions.js';
import { declaredChannels } from '../pipeline/channel-packages.js';
import { gatewayLink } from '../pipeline/gateway-link.js';
import { openPipeline, type Pipeline } from '../pipeline/pipeline.js';
import type { Settings } from '../settings/settings.js';
import type { Shell } from '../shell/shell.js';
import { checkGrants, checkRoles } from './check-access.js';
import { checkChannels, checkRoutes } from './check-channels.js';
import { checkFamilies } from './check-families.js';
import { checkJournal } from './check-journal.js';
import { checkMatches } from './check-matches.js';
import { checkSecrets } from './check-secrets.js';
import { type Finding, findingsOf } from './finding.js';

/** Looks at all parts of a host without a start of it. Extensions and plugins are set up, and disposed again. */
export async function examine(settings: Settings, shell: Shell): Promise<Finding[]> {
  const { config } = settings;
  const read = config === undefined ? 'there is no config file; defaults apply' : config.file;
  const findings = [findingsOf('config').ok(read)];
  const declared = config === undefined ? [] : await declaredChannels(settings);
  if (config !== undefined) findings.push(...checkSecrets(config, settings.extensions, declared));
  let pipeline: Pipeline;
  try {
    pipeline = await openPipeline(settings, silentLogger);
  } catch (thrown) {
    if (!(thrown instanceof CommandError)) throw thrown;
    return [...findings, findingsOf('config').thrown(thrown)]; // a grant or an override that the kernel refuses
  }
  await using open = pipeline;
  const { kernel, plugins, errors } = open;
  const { live: extensions, statuses } = open.extensions;
  const agents = await agentsOf(settings, shell, providedBy(open.extensions), findings);
  const provided = extensions.flatMap((one) => one.provided('channel'));
  const registered = extensions.flatMap((one) =>
    one.registered().map((registration) => ({ extensionId: one.extensionId, registration })),
  );
  const channels = settings.channels ?? ['console', ...provided.map(({ id }) => id)];
  findings.push(
    ...errors.map((error) => findingsOf('extensions').thrown(error)),
    ...checkGrants(
      settings,
      statuses,
      plugins.map(({ pluginId }) => pluginId),
    ),
    ...(await checkChannels(channels, provided, settings.workspaceDir)),
    ...checkRoles(settings, channels, provided),
    ...checkRoutes(
      extensions.flatMap((one) =>
        one.provided('route').map((route) => ({ extensionId: one.extensionId, route })),
      ),
      settings,
    ),
    ...(await checkJournal(
      settings,
      statuses.map(({ extensionId }) => extensionId),
      registered,
    )),
    ...(await checkFamilies({ kernel, providers: agents, channels })),
    ...(await checkMatches(kernel.stages(), settings.journal?.path)),
  );
  for (const { pluginId, error } of plugins)
    if (error === undefined) findings.push(setUp('plugins', pluginId));
  for (const extension of extensions.toReversed()) findings.push(...(await undone(extension)));
  return findings;
}

function setUp(check: 'extensions' | 'plugins', whose: string): Finding {
  return findingsOf(check).ok('was set up, and disposed again', whose);
}

/** Disposes an extension, and reports what could not be undone. */
async function undone(extension: LoadedExtension): Promise<Finding[]> {
  const { failures } = await extension.dispose();
  if (failures.length === 0) return [setUp('extensions', extension.extensionId)];
  return failures.map(({ label, error }) =>
    findingsOf('extensions').error(
      `"${label}" could not be undone: ${oneLine(error)}`,
      extension.extensionId,
      'Mend what undoes it: after a reload, what is left would be there twice.',
    ),
  );
}

/** Makes the agents, without asking them anything. A gateway is connected to, because only that shows that it lets the host in. */
async function agentsOf(
  settings: Settings,
  { cwd, version, stop }: Shell,
  provided: ProvidedAgents,
  findings: Finding[],
): Promise<AgentProvider[]> {
  const agentFindings = findingsOf('agents');
  const onMalformed = (error: CommandError): void =>
    void findings.push(agentFindings.thrown(error));
  await using gateway = gatewayLink(settings.gateway, { logger: silentLogger, version, stop });
  try {
    const agents = await agentDefinitions(settings, provided, {
      cwd,
      logger: silentLogger,
      onMalformed,
      gateway: () => gateway.client(),
    });
    const ids = new Set(agents.map(({ id }) => id));
    const all = [...agents, ...[...provided.now().values()].filter(({ id }) => !ids.has(id))];
    for (const { id, provider, timeoutMs = usualTurnMs } of all) {
      const limit = timeoutMs === false ? 'has no time limit' : `takes ${timeoutMs} ms at most`;
      findings.push(agentFindings.ok(`answered by "${provider.id}", a turn ${limit}`, id));
    }
    return all.map(({ provider }) => provider);
  } catch (thrown) {
    findings.push(agentFindings.thrown(thrown));
    return [];
  }
}
