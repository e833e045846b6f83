import type { OwnedRoute } from '@sluice/host';
import { nameOfRoute, routeProblem } from '@sluice/host/internal';
import type { ChannelPlugin } from '@sluice/sdk/channel';
import { noSuchChannel } from '../pipeline/channel-packages.js';
import type { Settings } from '../settings/settings.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('channels');

/** Looks at the channels that a host would start, and at the settings of their accounts. Nothing is connected. @param from see `noSuchChannel`. */
export async function checkChannels(
  wanted: readonly string[],
  provided: readonly ChannelPlugin[],
  from: string,
): Promise<Finding[]> {
  const found: Finding[] = [];
  const names = provided.map((one) => one.id);
  for (const id of wanted) {
    const channel = provided.find((one) => one.id === id);
    if (channel !== undefined) found.push(...(await checkAccounts(channel)));
    else if (id === 'console') found.push(isThere(id));
    else {
      const { hint } = noSuchChannel(id, names, from);
      found.push(findings.error('no extension provides this channel', id, hint));
    }
  }
  return found;
}

async function checkAccounts(channel: ChannelPlugin): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const accountId of channel.accounts)
    try {
      await channel.checkAccount?.(accountId);
    } catch (thrown) {
      found.push({
        ...findings.thrown(thrown, `${channel.id}/${accountId}`),
        hint: 'Fix that: the account cannot be started as it is.',
      });
    }
  if (found.length > 0) return found;
  const isUnchecked = channel.checkAccount === undefined && channel.accounts.length > 0;
  const what = 'its accounts: it has no checkAccount';
  return [isThere(channel.id), ...(isUnchecked ? [findings.unchecked(what, channel.id)] : [])];
}

function isThere(whose: string): Finding {
  return findings.ok('is there, and was not started', whose);
}

const routeFindings = findingsOf('routes');
const portHint = 'If it is wanted, open the port: "health": { "port": 8080 } in the config.';

/**
 * Looks at the routes of the extensions, and at the plugins that may have some: each route must be one that a host takes, and
 * somebody must be able to reach it.
 */
export function checkRoutes(
  routes: readonly OwnedRoute[],
  { health, plugins }: Pick<Settings, 'health' | 'plugins'>,
): Finding[] {
  const taken: OwnedRoute[] = [];
  const unreached = plugins.filter((plugin) => health === undefined && plugin.routes === true);
  const ofPlugins = unreached.map(({ path }) =>
    routeFindings.warning('may answer HTTP requests, and no port is open for it', path, portHint),
  );
  const ofExtensions = routes.map((one) => {
    const { extensionId, route } = one;
    const name = nameOfRoute(route);
    const problem = routeProblem(one, taken);
    if (problem !== undefined) {
      const hint = 'Fix that in the extension, or load one of the two.';
      return routeFindings.error(`the route ${name} is left out: ${problem}`, extensionId, hint);
    }
    taken.push(one);
    if (health !== undefined)
      return routeFindings.ok(`answers ${name} at the health port`, extensionId);
    const said = `provides ${name}, and no port is open for it`;
    return routeFindings.warning(said, extensionId, portHint);
  });
  return [...ofPlugins, ...ofExtensions];
}
