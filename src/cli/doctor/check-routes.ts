import { nameOfRoute, type OwnedRoute, routeProblem } from '../../host/internal.js';
import type { Settings } from '../settings/settings.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('routes');

/** Looks at the routes of the extensions: each must be one that a host takes, and somebody must be able to reach it. */
export function checkRoutes(
  routes: readonly OwnedRoute[],
  { health }: Pick<Settings, 'health'>,
): Finding[] {
  const taken: OwnedRoute[] = [];
  return routes.map((one) => {
    const { extensionId, route } = one;
    const name = nameOfRoute(route);
    const problem = routeProblem(one, taken);
    if (problem !== undefined) {
      const hint = 'Mend that in the extension, or load one of the two.';
      return findings.error(`the route ${name} is left out: ${problem}`, extensionId, hint);
    }
    taken.push(one);
    if (health !== undefined) return findings.ok(`answers ${name} at the health port`, extensionId);
    const hint = 'If it is wanted, open the port: "health": { "port": 8080 } in the config.';
    return findings.warning(`provides ${name}, and no port is open for it`, extensionId, hint);
  });
}
