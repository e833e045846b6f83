import { AsyncLocalStorage } from 'node:async_hooks';
import { type Kernel, perKernel } from 'sluice-kernel/internal';
import type { LegacyHttpRoute } from '../shape/shapes.js';
import { doOverlap } from './route-match.js';

/** The place that OpenClaw's own code registers routes in while code of a plugin runs: 2026.9 reads all of it. */
interface RouteScope {
  readonly registry: {
    readonly plugins: readonly never[];
    readonly httpRoutes: LegacyHttpRoute[];
  };
  readonly leases: readonly never[];
}

/** The routes of a plugin. */
export type RouteList = LegacyHttpRoute[] & {
  readonly scope: RouteScope;
  readonly leftOut: RouteOwner['leftOut'];
};

/** OpenClaw 2026.9 asks here for the place of the running code's routes. Two installed copies of this package share it, too. */
const scopeKey = Symbol.for('openclaw.pluginHttpRouteRegistryScope');
/** OpenClaw 2026.3 keeps in this place of the process what plugins register: `registerPluginHttpRoute` writes to it. */
const stateKey = Symbol.for('openclaw.pluginRegistryState');

/** A plugin that may have routes. */
interface RouteOwner {
  readonly kernel: Kernel;
  readonly pluginId: string;
  /** Its routes answer, if the operator lets them. */
  readonly answers: boolean;
  added(path: string): void;
  leftOut(path: string, why: string): void;
}

/** The routes of the plugins of a kernel that may answer, by their plugins. */
const routesOf = perKernel(() => new Map<string, readonly LegacyHttpRoute[]>());

/** Why a route cannot stand beside one of the others, if so. */
export function conflictOf(
  { path, match, auth }: LegacyHttpRoute,
  others: readonly LegacyHttpRoute[],
): string | undefined {
  for (const other of others) {
    if (other.auth !== auth && doOverlap(other, { ...other, path, match }))
      return `it overlaps ${other.path} (${other.match}, ${other.auth})`;
    if (other.path === path && other.match === match && match !== 'any')
      return 'it is registered already';
  }
  return undefined;
}

/**
 * The list of a plugin's routes. One that cannot stand beside a route of another plugin of the kernel is left out, by whatever
 * function it is added.
 */
export function routeList({ kernel, pluginId, answers, ...owner }: RouteOwner): RouteList {
  const all = answers ? routesOf(kernel) : new Map<string, readonly LegacyHttpRoute[]>();
  const routes: LegacyHttpRoute[] = [];
  all.set(pluginId, routes);
  const isFree = (route: LegacyHttpRoute): boolean => {
    for (const [other, taken] of all) {
      const why = other === pluginId ? undefined : conflictOf(route, taken);
      if (why === undefined) continue;
      owner.leftOut(route.path, `${why}, by plugin "${other}"`);
      return false;
    }
    owner.added(route.path);
    return true;
  };
  const splice = (at: number, count: number, ...added: LegacyHttpRoute[]): LegacyHttpRoute[] =>
    Array.prototype.splice.call(routes, at, count, ...added.filter(isFree)) as LegacyHttpRoute[]; // of its elements
  const push = (...added: LegacyHttpRoute[]): number => {
    splice(routes.length, 0, ...added);
    return routes.length;
  };
  // OpenClaw holds it weakly
  const scope: RouteScope = { registry: { plugins: [], httpRoutes: routes }, leases: [] };
  const members = { splice, push, scope, leftOut: owner.leftOut };
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(routes, name, { value });
  return routes as RouteList; // it has its members now
}

/** Runs code of a plugin: the routes that OpenClaw's functions register by it, then or later, are the plugin's. */
export function withRoutes<T>({ scope }: RouteList, work: () => T): T {
  return scopes().run(scope, work);
}

function scopes(): AsyncLocalStorage<RouteScope> {
  const process = globalThis as {
    [scopeKey]?: AsyncLocalStorage<RouteScope>;
    [stateKey]?: { registry?: object | null };
  };
  const known = (process[scopeKey] ??= new AsyncLocalStorage());
  const state = (process[stateKey] ??= emptyState()); // its code is imported when the first plugin needs it
  if (Object.getOwnPropertyDescriptor(state, 'registry')?.get !== undefined) return known;
  let { registry = null } = state;
  const get = (): object | null => {
    const httpRoutes = known.getStore()?.registry.httpRoutes;
    if (httpRoutes === undefined || registry === null) return registry;
    return Object.create(registry, { httpRoutes: { value: httpRoutes, writable: true } }) as object; // of OpenClaw
  };
  const set = (next: object | null): void => {
    registry = next;
  };
  Object.defineProperty(state, 'registry', { get, set, configurable: true });
  return known;
}

/** The state of the registry before anything has registered: the fields of 2026.3, and those of 2026.9. */
function emptyState(): { registry: object | null } {
  const later = { activeRegistry: null, activeVersion: 0, importedPluginIds: new Set<string>() };
  const where = { key: null, workspaceDir: null, runtimeSubagentMode: 'default' };
  return { registry: null, ...{ version: 0, ...later, ...where } };
}
