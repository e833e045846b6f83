import { AsyncLocalStorage } from 'node:async_hooks';
import type { LegacyHttpRoute } from '../shape/shapes.js';

/** The part of OpenClaw's registry that is read here. */
interface OpenClawState {
  registry: { readonly httpRoutes?: unknown } | null;
}

/** OpenClaw's own code keeps in this place of the process what plugins register: `registerPluginHttpRoute` writes to it. */
const openclawKey = Symbol.for('openclaw.pluginRegistryState');
/** Two installed copies of this package agree on the plugin whose code runs. */
const sluiceKey = Symbol.for('sluice.plugin-routes');

/** The routes of a plugin. @param onAdd is told the path of each that is added, by whatever function. */
export function routeList(onAdd: (path: string) => void): LegacyHttpRoute[] {
  const routes: LegacyHttpRoute[] = [];
  const push = (...added: LegacyHttpRoute[]): number => {
    for (const { path } of added) onAdd(path);
    return Array.prototype.push.apply(routes, added);
  };
  Object.defineProperty(routes, 'push', { value: push });
  return routes;
}

/** Runs code of a plugin: the routes that OpenClaw's functions register by it, then or later, are the plugin's. */
export function withRoutes<T>(routes: LegacyHttpRoute[], work: () => T): T {
  return routesOfWork().run(routes, work);
}

function routesOfWork(): AsyncLocalStorage<LegacyHttpRoute[]> {
  const process = globalThis as {
    [sluiceKey]?: AsyncLocalStorage<LegacyHttpRoute[]>;
    [openclawKey]?: OpenClawState;
  };
  const known = process[sluiceKey];
  if (known !== undefined) return known;
  const ofWork = new AsyncLocalStorage<LegacyHttpRoute[]>();
  process[sluiceKey] = ofWork;
  const lend = (state: OpenClawState): OpenClawState => {
    let { registry } = state;
    const get = () => {
      const httpRoutes = ofWork.getStore();
      if (httpRoutes === undefined || registry === null) return registry;
      return Object.create(registry, { httpRoutes: { value: httpRoutes, writable: true } });
    };
    const set = (next: typeof registry): void => {
      registry = next;
    };
    return Object.defineProperty(state, 'registry', { get, set, configurable: true });
  };
  let state = process[openclawKey] && lend(process[openclawKey]);
  Object.defineProperty(process, openclawKey, {
    get: () => state,
    set: (made: OpenClawState) => {
      state = lend(made); // its code is imported when the first plugin needs it
    },
    configurable: true,
  });
  return ofWork;
}
